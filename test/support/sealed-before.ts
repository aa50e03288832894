import { createCipheriv, randomBytes } from 'node:crypto'

/** Seals a secret like versions before record schema 4: without a place. */
export function sealedBefore(key: Buffer, secret: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const data = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return `sealed:v1:${Buffer.concat([iv, cipher.getAuthTag(), data]).toString('base64url')}`
}
