import { createHmac } from 'node:crypto'
import { type DigestForm, digestForms } from '../../../shared/settings/network.ts'

/** Forms of a digest, the usual one first. The specification does not name the hash. */
export const signatureForms: readonly DigestForm[] = digestForms

/** Signs a message as a client does (specification, section 5; contract, section 2). */
export function signature(form: DigestForm, secretKey: string, message: string): string {
  const hmac = createHmac(form.startsWith('sha256') ? 'sha256' : 'sha1', secretKey).update(message)
  return form.endsWith('hex') ? Buffer.from(hmac.digest('hex')).toString('base64') : hmac.digest('base64')
}
