import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'

/** PEM texts of a certificate and its key. */
interface KeyPair {
  cert: string
  key: string
}

const day = 24 * 60 * 60 * 1000
/** Longer ones are not trusted by every system. */
const lifeDays = 825
/** So long nobody has to be told again whom to trust. */
const authorityDays = 3_650
/** What ends sooner than this is made anew. */
const renewBefore = 30 * day

/**
 * The certificate that a site makes for itself, for the addresses of this machine, signed by an authority that it made before: whoever trusts the authority trusts
 * the certificate that follows, too. Both are kept in `folder` (the files `self-signed` and `authority`), each readable by its owner only.
 */
export async function ownCertificate(folder: string): Promise<KeyPair> {
  const known = await readPair(folder, 'self-signed')
  if (known !== undefined) return known
  const { generate } = await import('selfsigned')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const ca = (await readPair(folder, 'authority')) ?? (await makeAuthority(folder))
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
  const altNames = [
    { type: 2 as const, value: 'localhost' },
    ...[...new Set(addresses)].map((ip) => ({ type: 7 as const, ip })),
  ]
  const made = await generate([{ name: 'commonName', value: 'Roomdesk' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + lifeDays * day),
    ca,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  })
  return await writePair(folder, 'self-signed', { cert: `${made.cert.trim()}\n${ca.cert.trim()}\n`, key: made.private })
}

async function makeAuthority(folder: string): Promise<KeyPair> {
  const { generate } = await import('selfsigned')
  // Its name tells one site from another in a list of authorities.
  const mark = new Date().toISOString().slice(0, 10)
  const made = await generate([{ name: 'commonName', value: `Roomdesk authority ${mark}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + authorityDays * day),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return await writePair(folder, 'authority', { cert: made.cert, key: made.private })
}

/** Undefined: not there yet, not usable, or at its end. */
async function readPair(folder: string, name: string): Promise<KeyPair | undefined> {
  try {
    const pair = {
      cert: await readFile(join(folder, `${name}.crt`), 'utf8'),
      key: await readFile(join(folder, `${name}.key`), 'utf8'),
    }
    return Date.parse(new X509Certificate(pair.cert).validTo) - Date.now() > renewBefore ? pair : undefined
  } catch {
    return undefined
  }
}

async function writePair(folder: string, name: string, pair: KeyPair): Promise<KeyPair> {
  await replace(join(folder, `${name}.key`), pair.key)
  await replace(join(folder, `${name}.crt`), pair.cert)
  return pair
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
