"use strict";
// Where the relay of the run is: known once the pack is prepared, as one process may be asked things before.

/** `lies(url)` and `serves(host)` tell whether something goes there; nothing does before `at` was called. */
function createRelay() {
  const { URL } = globalThis;
  let origin = null, host = null;
  return {
    at(address) {
      ({ origin, host } = address ? new URL(address) : { origin: null, host: null });
    },
    lies: (url) => origin !== null && url.origin === origin,
    serves: (name) => host !== null && name === host,
  };
}

module.exports = { createRelay };
