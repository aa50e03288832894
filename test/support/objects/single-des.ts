import crypto from 'node:crypto'

/**
 * Lets the S3 server of the tests make the tokens of its listings on today's OpenSSL, which has no DES: triple DES with one key three times is the same.
 */
export function allowSingleDes(): void {
  const createCipheriv = crypto.createCipheriv.bind(crypto)
  Reflect.set(crypto, 'createCipheriv', (algorithm: string, key: Buffer, iv: Buffer) =>
    algorithm === 'des'
      ? createCipheriv('des-ede3-cbc', Buffer.concat([key, key, key]), iv)
      : createCipheriv(algorithm, key, iv),
  )
}
