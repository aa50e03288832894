/** The native library that carries WebRTC in the media program, as the lock file pins it. A test reads both versions out of what is installed. */
export const webRtcLibrary = {
  name: 'node-datachannel',
  version: '0.33.4',
  /** OpenSSL inside its binary, which does DTLS. Upstream support of 1.1.1 ended on 11 September 2023. */
  openssl: '1.1.1w',
} as const
