/**
 * Native WebRTC library of the media program, as pinned by the lock file. A test compares both versions with the
 * installed ones.
 */
export const webRtcLibrary = {
  name: 'node-datachannel',
  version: '0.33.4',
  /**
   * Version of OpenSSL in the library's binary, used for DTLS. Upstream support of 1.1.1 ended on 11 September 2023.
   */
  openssl: '1.1.1w',
} as const
