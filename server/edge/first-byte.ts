/** First byte of a TLS connection: a record of type handshake (RFC 8446, section 5.1). No HTTP request begins with it. */
export const handshakeByte = 0x16
