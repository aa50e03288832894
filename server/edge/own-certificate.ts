import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'
import { insideOf } from '../../shared/files/own-path.ts'
import { onceFree } from '../../shared/held-file.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { isConstrained, type KeyPair, makeAuthority, permittedNames, signCertificate } from './site-authority.ts'
import { permits, permittedOf, type SiteNames, siteNames } from './site-names.ts'

const changeSchema = z.object({
  /** Time of the change, in milliseconds since the epoch. */
  at: z.number(),
  /** Subject of the new authority. */
  subject: z.string(),
  /**
   * Time until which devices that trust the previous authority also trust the site, in milliseconds since the epoch; 0:
   * they do not trust the site.
   */
  trusted_until: z.number(),
})

/** A change of the site's authority; devices must trust the new authority. */
export type AuthorityChange = z.output<typeof changeSchema>

/** Self-signed certificate of a site. */
export interface OwnCertificate extends KeyPair {
  /** Change of the authority; undefined: devices already trust the authority. */
  change?: AuthorityChange
}

const day = 24 * 60 * 60 * 1000
/** Remaining validity at which certificates are renewed, in milliseconds. */
const renewBefore = { authority: 90 * day, certificate: 60 * day } as const
/** Time for which operators are reminded of an authority that devices do not trust yet, in milliseconds. */
const remindMs = 90 * day

const authorityName = 'authority'
const certificateName = 'self-signed'
const changeFile = 'authority-change.json'

/** Running changes by folder; the changes of a folder run one at a time. */
const queues = new Map<string, Promise<unknown>>()

/**
 * Creates and renews the site's own certificate, and its authority, which devices can trust. Stores them in `folder`
 * (files `self-signed` and `authority`, readable by their owner only). The authority may sign only the names of the
 * site. A renewal keeps key and subject. Devices that trust the old or the new authority keep working for the 90 days
 * before the old authority expires. An authority without name constraints is replaced at once, including its key.
 */
export async function ownCertificate(
  folder: string,
  names: SiteNames = siteNames(),
  now = Date.now(),
): Promise<OwnCertificate> {
  const queue = (queues.get(folder) ?? Promise.resolve()).then(() => upToDate(folder, names, now))
  // The caller receives the error through `queue`.
  const settled = queue.catch(() => undefined)
  queues.set(folder, settled)
  mustNotFail(settled.then(() => queues.get(folder) === settled && queues.delete(folder)))
  return await queue
}

async function upToDate(folder: string, names: SiteNames, now: number): Promise<OwnCertificate> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const kept = await readPair(folder, authorityName)
  const authority = await authorityFor(folder, { kept, names, now })
  const known = await readPair(folder, certificateName)
  const pair =
    known !== undefined && (await goesOn(known, { authority, names, now }))
      ? known
      : await writePair(
          folder,
          certificateName,
          await signCertificate(authority, permittedOf(names.current, await permittedNames(authority.cert)), now),
        )
  const change = await readChange(folder, now)
  return change === undefined ? pair : { ...pair, change }
}

/** Returns the current authority if it is still usable, otherwise a new authority. */
async function authorityFor(
  folder: string,
  { kept, names, now }: { kept: KeyPair | undefined; names: SiteNames; now: number },
): Promise<KeyPair> {
  if (kept === undefined) return await writePair(folder, authorityName, await makeAuthority(names.permitted, now))
  const constrained = isConstrained(kept) ? kept : undefined
  const ends = endOf(kept.cert)
  if (constrained !== undefined && ends - now > renewBefore.authority && (await fits(constrained, names)))
    return constrained
  const next = await makeAuthority(names.permitted, now, constrained)
  const isTrusted = constrained !== undefined && permits(await permittedNames(kept.cert), names.current)
  const { subject } = new X509Certificate(next.cert)
  const change: AuthorityChange = { at: now, subject, trusted_until: isTrusted ? ends : 0 }
  await replace(join(folder, changeFile), JSON.stringify(change))
  return await writePair(folder, authorityName, next)
}

/** Whether an authority permits the names that the operator chose, and an external address of this machine. */
async function fits({ cert }: KeyPair, { current, chosen }: SiteNames): Promise<boolean> {
  const outside = current.addresses.filter((address) => address !== '127.0.0.1' && address !== '::1')
  const permitted = await permittedNames(cert)
  const reached = permittedOf({ dns: [], addresses: outside }, permitted).addresses
  return permits(permitted, chosen) && (outside.length === 0 || reached.length > 0)
}

/**
 * Whether a certificate of this authority is valid for long enough, and has every permitted name. IPv6 addresses change
 * by themselves (RFC 8981), so a new IPv6 address needs no new certificate.
 */
async function goesOn(
  { cert }: KeyPair,
  { authority, names: { current }, now }: { authority: KeyPair; names: SiteNames; now: number },
): Promise<boolean> {
  const leaf = new X509Certificate(cert)
  const issuer = new X509Certificate(authority.cert)
  if (!cert.includes(authority.cert.trim()) || !leaf.verify(issuer.publicKey)) return false
  if (endOf(cert) - now <= renewBefore.certificate) return false
  const lacking = {
    dns: current.dns.filter((name) => leaf.checkHost(name, { subject: 'never' }) === undefined),
    addresses: current.addresses.filter((address) => isIPv4(address) && leaf.checkIP(address) === undefined),
  }
  if (lacking.dns.length + lacking.addresses.length === 0) return true
  const { dns, addresses } = permittedOf(lacking, await permittedNames(authority.cert))
  return dns.length + addresses.length === 0
}

/** Returns the last change of the authority; undefined: every device should trust the new authority by now. */
async function readChange(folder: string, now: number): Promise<AuthorityChange | undefined> {
  // Without the file, which is the usual case, the operator is not reminded.
  const text = await readFile(join(folder, changeFile), 'utf8').catch(() => 'null')
  const { data } = changeSchema.safeParse(parsedJson(text))
  if (data === undefined) return undefined
  return now < (data.trusted_until === 0 ? data.at + remindMs : data.trusted_until) ? data : undefined
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the self-signed certificate of a site; undefined: none. */
export async function storedCertificate(folder: string): Promise<KeyPair | undefined> {
  return await readPair(folder, certificateName)
}

/**
 * Reads a certificate and its key; undefined: missing or damaged.
 * @throws errors of the file system: an authority that devices trust must not be replaced after a temporary read error
 */
async function readPair(folder: string, name: string): Promise<KeyPair | undefined> {
  const read = (ending: string): Promise<string | undefined> =>
    readFile(insideOf(folder, `${name}.${ending}`), 'utf8').catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    })
  const cert = await read('crt')
  const key = await read('key')
  if (cert === undefined || key === undefined) return undefined
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : undefined
  } catch {
    // The files are damaged.
    return undefined
  }
}

async function writePair(folder: string, name: string, pair: KeyPair): Promise<KeyPair> {
  await replace(insideOf(folder, `${name}.key`), pair.key)
  await replace(insideOf(folder, `${name}.crt`), pair.cert)
  return pair
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await onceFree(process.platform, () => rename(`${file}.new`, file))
}

/** Returns the end of validity, in milliseconds since the epoch. */
function endOf(cert: string): number {
  return Date.parse(new X509Certificate(cert).validTo)
}
