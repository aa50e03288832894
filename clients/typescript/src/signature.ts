import type { DigestForm } from './result-codes.ts'

const utf8 = new TextEncoder()

/**
 * Signs a text with a secret key, as the digest and the token of the API: an HMAC by WebCrypto, in base64.
 * @param form hash, and whether its hexadecimal text or its bytes are encoded
 * @throws TypeError on a page that is not a secure context, where browsers offer no WebCrypto
 */
export async function sign(form: DigestForm, secretKey: string, text: string): Promise<string> {
  // Browsers leave it out of pages that were loaded by plain HTTP from another machine; the types do not say so.
  const { subtle }: Partial<typeof globalThis.crypto> = globalThis.crypto
  if (subtle === undefined)
    throw new TypeError('WebCrypto needs HTTPS or localhost: pass `sign` instead of `secretKey` on other pages.')
  const algorithm = { name: 'HMAC', hash: form.startsWith('sha256') ? 'SHA-256' : 'SHA-1' }
  const key = await subtle.importKey('raw', utf8.encode(secretKey), algorithm, false, ['sign'])
  const bytes = new Uint8Array(await subtle.sign('HMAC', key, utf8.encode(text)))
  return btoa(form.endsWith('hex') ? hexOf(bytes) : String.fromCharCode(...bytes))
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
