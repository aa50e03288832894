import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { Settings } from '../../shared/settings.ts'

/** PEM texts of a certificate and its key. */
export interface TlsMaterial {
  cert: string
  key: string
}

/** The certificate of the site, as the controller keeps it. */
export interface SiteTls {
  /** In use; undefined: plain HTTP. */
  material: TlsMaterial | undefined
  /** Why what its files hold now is not in use. */
  problem: () => Readonly<{ message: string; since: number }> | undefined
}

const day = 24 * 60 * 60 * 1000
const lifeDays = 825
/** A self-signed certificate is made anew when it ends sooner than this. */
const renewBefore = 30 * day

/** What a console shows of the certificate in use; zeros and empty texts without one. */
export interface CertificateInfo {
  mode: Settings['tls']['mode']
  subject: string
  issuer: string
  expires_at: number
  fingerprint: string
}

/**
 * Certificate and key of every port as the settings say: none, from files, or self-signed (made once, kept in `<data folder>/tls`).
 * @throws ConsoleError invalid, with the setting that is wrong
 */
export async function tlsMaterial(settings: Settings, folder: string): Promise<TlsMaterial | undefined> {
  const { mode, cert_file, key_file } = settings.tls
  if (mode === 'off') return undefined
  if (mode === 'self-signed') return selfSigned(join(folder, 'tls'))
  const cert = await readPem(cert_file, 'tls.cert_file')
  const key = await readPem(key_file, 'tls.key_file')
  const certificate = parsed(() => new X509Certificate(cert), 'tls.cert_file', 'This file holds no certificate in PEM.')
  const privateKey = parsed(
    () => createPrivateKey(key),
    'tls.key_file',
    'This file holds no private key in PEM, or one with a passphrase.',
  )
  if (!certificate.checkPrivateKey(privateKey))
    throw invalid('tls.key_file', 'This key does not belong to the certificate.')
  return { cert, key }
}

/** What the certificate says of itself. */
export function certificateInfo(mode: Settings['tls']['mode'], material: TlsMaterial | undefined): CertificateInfo {
  if (material === undefined) return { mode, subject: '', issuer: '', expires_at: 0, fingerprint: '' }
  const { subject, issuer, validTo, fingerprint256 } = new X509Certificate(material.cert)
  return { mode, subject, issuer, expires_at: Date.parse(validTo), fingerprint: fingerprint256 }
}

async function selfSigned(folder: string): Promise<TlsMaterial> {
  const files = { cert: join(folder, 'self-signed.crt'), key: join(folder, 'self-signed.key') }
  try {
    const material = { cert: await readFile(files.cert, 'utf8'), key: await readFile(files.key, 'utf8') }
    if (Date.parse(new X509Certificate(material.cert).validTo) - Date.now() > renewBefore) return material
  } catch {
    // Not there yet, or not usable: made anew below.
  }
  const { generate } = await import('selfsigned')
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
  const names = [
    { type: 2 as const, value: 'localhost' },
    ...[...new Set(addresses)].map((ip) => ({ type: 7 as const, ip })),
  ]
  const made = await generate([{ name: 'commonName', value: 'Roomdesk' }], {
    keyType: 'ec',
    notAfterDate: new Date(Date.now() + lifeDays * day),
    extensions: [{ name: 'subjectAltName', altNames: names }],
  })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await replace(files.key, made.private)
  await replace(files.cert, made.cert)
  return { cert: made.cert, key: made.private }
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

async function readPem(file: string, path: string): Promise<string> {
  if (file === '') throw invalid(path, 'Name a file in PEM.')
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw invalid(path, code === 'ENOENT' ? 'There is no such file.' : `This file cannot be read (${code}).`)
  }
}

function parsed<T>(parse: () => T, path: string, message: string): T {
  try {
    return parse()
  } catch {
    throw invalid(path, message)
  }
}

function invalid(path: string, message: string): ConsoleError {
  return new ConsoleError('invalid', `${path}: ${message}`, { problems: [{ path, message }] })
}
