import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { errorCode } from '../../shared/error-code.ts'
import { CommandError } from './command.ts'

/** Purpose of the key that signs reports, derived from the key of the site. */
export const reportKeyPurpose = 'signed report'

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410, section 7). */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex')
const signatureLine = /\n<!-- Signature \(Ed25519\): key ([\w-]{43}), signature ([\w-]{86}) -->\n$/

/** Key of a site, or of the user of a command, for signing reports. */
export interface ReportKey {
  privateKey: KeyObject
  /** Public key as text: its 32 bytes in base64url. */
  name: string
}

/** Returns the key that signs reports. @param seed 32 secret bytes of the site */
export function reportKey(seed: Buffer): ReportKey {
  const der = Buffer.concat([privateKeyHead, seed])
  return named(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

/** Returns the key in a PEM file, which is made if it is missing. @throws CommandError */
export async function reportKeyIn(file: string): Promise<ReportKey> {
  try {
    const privateKey = await storedKey(file)
    if (privateKey.asymmetricKeyType === 'ed25519') return named(privateKey)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(`The key ${file} cannot be used: ${reason}.`, { cause: error })
  }
  throw new CommandError(`The key ${file} cannot be used: it is no Ed25519 key.`)
}

/** @throws errors of the file system, or of a file that is no key */
async function storedKey(file: string): Promise<KeyObject> {
  try {
    return createPrivateKey(await readFile(file))
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  await writeFile(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' })
  return privateKey
}

function named(privateKey: KeyObject): ReportKey {
  const { x: name = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, name }
}

/** Returns a page with its signature in the last line, which browsers do not show. */
export function signPage(page: string, { privateKey, name }: ReportKey): string {
  const signature = sign(null, Buffer.from(page), privateKey).toString('base64url')
  return `${page}\n<!-- Signature (Ed25519): key ${name}, signature ${signature} -->\n`
}

/** Signature of a page. */
interface PageSignature {
  /** Whether the page is as it was signed. */
  isValid: boolean
  /** Public key that the page names. */
  key: string
}

/** Checks a signed page; undefined: it has no signature. */
export function checkPage(text: string): PageSignature | undefined {
  const [line = '', key = '', signature = ''] = signatureLine.exec(text) ?? []
  if (line === '') return undefined
  const page = Buffer.from(text.slice(0, -line.length))
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
  return { isValid: verify(null, page, publicKey, Buffer.from(signature, 'base64url')), key }
}
