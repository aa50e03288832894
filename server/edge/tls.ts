import { createPrivateKey, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { leavesMachine } from '../../shared/bind-address.ts'
import { RefusalError, problemAt } from '../../shared/domain/outcome.ts'
import { errorCode } from '../../shared/error-code.ts'
import { maxKeyFileBytes, readRegularFile } from '../../shared/files/regular-file.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import { type AuthorityChange, ownCertificate, storedCertificate } from './own-certificate.ts'
import { type CertifiedNames, controllerName, siteNames } from './site-names.ts'

/** PEM texts of a certificate and its key. */
export interface TlsMaterial {
  cert: string
  key: string
  /** Change of the authority; undefined: devices already trust the authority, or the site has none. */
  change?: AuthorityChange
}

/** Current certificate of the site. */
export interface SiteTls {
  /** Certificate in use; undefined: plain HTTP. */
  material: TlsMaterial | undefined
  /** Returns the reason why the current certificate files are not in use; undefined: the files are in use. */
  problem: () => Readonly<{ message: string; since: number }> | undefined
}

/**
 * Holds the certificate of a site.
 * @param changed called when another certificate is in use
 */
export function siteTls(
  material: TlsMaterial | undefined,
  problem: SiteTls['problem'],
  changed: () => void = () => undefined,
): SiteTls {
  let used = material
  return {
    problem,
    get material() {
      return used
    },
    set material(next) {
      used = next
      changed()
    },
  }
}

/** The certificate in use, for display in the console. Without a certificate, numbers are 0 and texts are empty. */
export interface CertificateInfo {
  mode: Settings['tls']['mode']
  subject: string
  issuer: string
  expires_at: number
  fingerprint: string
  /** Fingerprint of the certificate that devices must trust: of the authority, if there is one. */
  trust_fingerprint: string
}

/**
 * Returns certificate and key of every port according to the settings: none, from files, or self-signed (see
 * ownCertificate).
 * @throws RefusalError invalid, with the wrong setting
 */
export async function tlsMaterial(settings: Settings, folder: string): Promise<TlsMaterial | undefined> {
  const { mode, cert_file, key_file } = settings.tls
  if (mode === 'off') return undefined
  if (mode === 'self-signed') return ownCertificate(join(folder, 'tls'), siteNames(hostsOf(settings)))
  const cert = await readPem(cert_file, 'tls.cert_file')
  const key = await readPem(key_file, 'tls.key_file')
  const certificate = parsed(() => new X509Certificate(cert), 'tls.cert_file', refusal('notCertificate'))
  const privateKey = parsed(() => createPrivateKey(key), 'tls.key_file', refusal('notPrivateKey'))
  if (!certificate.checkPrivateKey(privateKey)) throw invalid('tls.key_file', refusal('keyOfOther'))
  tryToServe({ cert, key })
  return { cert, key }
}

/**
 * Returns the certificate from before TLS was switched off, so that pages that were opened over https keep working;
 * undefined: no such certificate, or it can no longer be used.
 */
export async function formerTls(settings: Settings, folder: string): Promise<TlsMaterial | undefined> {
  const { tls } = settings
  try {
    if (tls.cert_file !== '') return await tlsMaterial({ ...settings, tls: { ...tls, mode: 'file' } }, folder)
  } catch {
    // The files are missing or invalid. The site's own certificate may have been in use instead.
  }
  // If the certificate cannot be read, old pages need a new link.
  return await storedCertificate(join(folder, 'tls')).catch(() => undefined)
}

/** Returns the hosts chosen by the operator for clients. */
function hostsOf({ listeners: { host }, media: { public_url } }: Settings): string[] {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return [
    ...(isEverywhere || !leavesMachine(host) ? [] : [host]),
    ...(URL.canParse(public_url) ? [new URL(public_url).hostname] : []),
  ]
}

/** Returns the log message for a changed authority, which clients must trust. */
export function authorityNotice({ trusted_until, subject }: AuthorityChange): string {
  const until = new Date(trusted_until).toISOString().slice(0, 10)
  return trusted_until === 0
    ? `The site has a new certificate authority (${subject}): devices that trusted the previous one warn until they trust the new one, and should no longer trust the previous one.`
    : `The certificate authority of the site was renewed (${subject}): devices that trust the previous one need the new one by ${until}.`
}

/** Returns the facts of a certificate. */
export function certificateInfo(mode: Settings['tls']['mode'], material: TlsMaterial | undefined): CertificateInfo {
  if (material === undefined)
    return { mode, subject: '', issuer: '', expires_at: 0, fingerprint: '', trust_fingerprint: '' }
  const { subject, issuer, validTo, fingerprint256 } = new X509Certificate(material.cert)
  const { fingerprint: trust_fingerprint } = certificateToTrust(material)
  return { mode, subject, issuer, expires_at: Date.parse(validTo), fingerprint: fingerprint256, trust_fingerprint }
}

/** Returns the certificate that a browser must trust to accept this site: the last certificate of the chain, in DER. */
export function certificateToTrust({ cert }: TlsMaterial): {
  der: Buffer
  subject: string
  fingerprint: string
  expires_at: number
} {
  const last = cert.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)?.at(-1) ?? cert
  const { raw, subject, fingerprint256, validTo } = new X509Certificate(last)
  return { der: raw, subject, fingerprint: fingerprint256, expires_at: Date.parse(validTo) }
}

async function readPem(file: string, path: string): Promise<string> {
  if (file === '') throw invalid(path, refusal('pemMissing'))
  try {
    return (await readRegularFile(file, maxKeyFileBytes)).toString('utf8')
  } catch (error) {
    const code = errorCode(error)
    throw invalid(path, code === 'ENOENT' ? refusal('pemNotFound') : refusal('pemUnreadable', { reason: code }))
  }
}

/**
 * Checks that the TLS library accepts certificate and key. Some certificates can be parsed but not served: the library
 * rejects weak keys and signatures, and Electron's library rejects different certificates than Node's library.
 */
function tryToServe(material: TlsMaterial): void {
  try {
    createSecureContext({ ...material })
  } catch (error) {
    const code = errorCode(error)
    const said = error instanceof Error ? error.message.replace(/^error:[0-9A-F]+:/i, '') : String(error)
    const isWeak = /TOO_SMALL|TOO_WEAK|UNSUPPORTED|UNKNOWN/.test(code)
    throw invalid('tls.cert_file', refusal(isWeak ? 'certificateWeak' : 'certificateUnusable', { reason: said }))
  }
}

function parsed<T>(parse: () => T, path: string, refused: Refusal): T {
  try {
    return parse()
  } catch {
    throw invalid(path, refused)
  }
}

function invalid(path: string, refused: Refusal): RefusalError {
  return new RefusalError(
    { ...refused, message: `${path}: ${refused.message}` },
    { problems: [problemAt(path, refused)] },
  )
}

/** Names of a controller's certificate. Other controllers compare the whole certificate, so the names do not matter. */
const controllerNames: CertifiedNames = { dns: [controllerName], addresses: [] }

/**
 * Returns the certificate that identifies this controller to the other controllers of its site if its ports are plain
 * HTTP for clients. Creates the certificate at the first start.
 */
export async function controllerCertificate(dataFolder: string): Promise<TlsMaterial> {
  const folder = join(dataFolder, 'tls', 'controller')
  const { cert, key } = await ownCertificate(folder, {
    current: controllerNames,
    permitted: controllerNames,
    chosen: controllerNames,
  })
  return { cert, key }
}
