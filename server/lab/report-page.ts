import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { errorCode } from '../../shared/error-code.ts'
import { CommandError } from './command.ts'

const style = `
body { font: 14px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; }
th { font-weight: 600; } td.number, th.number { text-align: right; } code, pre { font: 12px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; margin: 0; }
article { border-left: 3px solid #b3261e; padding: 0 0 0 1rem; margin: 1rem 0; } article p { margin: 0; }
dl { display: grid; grid-template-columns: 6rem 1fr; margin: .25rem 0 0; } dt { color: #555; } dd { margin: 0; }
.verdict { font-size: 1.1rem; margin: 1rem 0; } .source, footer { color: #555; } footer { margin-top: 2rem; font-size: 12px; }
@media print { body { margin: 0; max-width: none; } tr, article { break-inside: avoid; } thead { display: table-header-group; } }
@page { margin: 15mm; }`

/** Returns a page to print that needs no other file. @param body HTML; texts in it are escaped */
export function htmlPage(language: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${html(title)}</title>
<style>${style}</style>
${body}
</html>
`
}

/** Returns cells of a table row with these texts. */
export function cells(texts: readonly string[]): string {
  return texts.map((text) => `<td>${html(text)}</td>`).join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text for HTML. */
export function html(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}

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
