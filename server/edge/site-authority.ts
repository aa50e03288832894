import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
} from 'node:crypto'
import type { CertifiedNames } from './site-names.ts'

/** PEM texts of a certificate and its key. */
export interface KeyPair {
  cert: string
  key: string
}

const day = 24 * 60 * 60 * 1000
const hour = 60 * 60 * 1000
/**
 * Validity of an authority, and of a certificate that it signs, in days; browsers reject certificates valid for more
 * than 398 days.
 */
const lifeDays = { authority: 730, certificate: 397 } as const
/** Margin for a peer whose clock is slow, in milliseconds. */
const earlierMs = hour

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
/** Identifier of id-ce-nameConstraints (RFC 5280, section 4.2.1.10), and its DER encoding. */
const nameConstraints = '2.5.29.30'
const nameConstraintsDer = Buffer.from('0603551d1e', 'hex')

/**
 * Creates the authority of a site. The authority can sign certificates only for these names (critical name constraints)
 * and only for TLS servers.
 * @param before authority whose key and name are kept, so that clients that trust the old or the new authority accept
 * the certificates; undefined: a new key
 */
export async function makeAuthority(permitted: CertifiedNames, now: number, before?: KeyPair): Promise<KeyPair> {
  const x509 = await library()
  const key = before?.key ?? newKey()
  const keys = await cryptoKeys(key)
  const mark = createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
  const name =
    before === undefined
      ? `CN=Roomdesk authority ${new Date(now).toISOString().slice(0, 10)} ${mark.slice(0, 6)}`
      : new x509.X509Certificate(before.cert).subject
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name,
    ...validity(now, lifeDays.authority),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.Extension(nameConstraints, true, await constraints(permitted)),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { cert: `${certificate.toString('pem').trim()}\n`, key }
}

/** Signs a certificate for these names with a new key. The chain ends with the authority. */
export async function signCertificate(
  authority: KeyPair,
  { dns, addresses }: CertifiedNames,
  now: number,
): Promise<KeyPair> {
  const x509 = await library()
  const issuer = new x509.X509Certificate(authority.cert)
  const key = newKey()
  const { publicKey } = await cryptoKeys(key)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: 'CN=Roomdesk',
    issuer: issuer.subject,
    ...validity(now, lifeDays.certificate),
    signingAlgorithm: algorithm,
    publicKey,
    signingKey: (await cryptoKeys(authority.key)).privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...dns.map((value) => ({ type: 'dns' as const, value })),
        ...addresses.map((value) => ({ type: 'ip' as const, value })),
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  return { cert: `${certificate.toString('pem').trim()}\n${authority.cert.trim()}\n`, key }
}

/** Whether an authority has name constraints. Earlier versions of Roomdesk created authorities without them. */
export function isConstrained({ cert }: KeyPair): boolean {
  return new X509Certificate(cert).raw.includes(nameConstraintsDer)
}

/** Returns the names that an authority's certificate permits. */
export async function permittedNames(cert: string): Promise<CertifiedNames> {
  const x509 = await library()
  const { AsnConvert } = await import('@peculiar/asn1-schema')
  const { NameConstraints } = await import('@peculiar/asn1-x509')
  const extension = new x509.X509Certificate(cert).getExtension(nameConstraints)
  if (extension === null) return { dns: [], addresses: [] }
  const { permittedSubtrees } = AsnConvert.parse(extension.value, NameConstraints)
  const bases = permittedSubtrees === undefined ? [] : Array.from(permittedSubtrees, ({ base }) => base)
  return {
    dns: bases.flatMap(({ dNSName }) => dNSName ?? []),
    addresses: bases.flatMap(({ iPAddress }) => iPAddress ?? []),
  }
}

async function constraints({ dns, addresses }: CertifiedNames): Promise<ArrayBuffer> {
  const { AsnConvert } = await import('@peculiar/asn1-schema')
  const { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } = await import('@peculiar/asn1-x509')
  const bases = [
    ...dns.map((dNSName) => new GeneralName({ dNSName })),
    ...addresses.map((iPAddress) => new GeneralName({ iPAddress })),
  ]
  const permittedSubtrees = new GeneralSubtrees(bases.map((base) => new GeneralSubtree({ base })))
  return AsnConvert.serialize(new NameConstraints({ permittedSubtrees }))
}

/** Loaded on demand: loading it takes longer than starting a site that has a certificate. */
const library = () => import('@peculiar/x509')

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: algorithm.namedCurve })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

// The return type is inferred: the library uses the browser's key types if they are known, otherwise Node's.
async function cryptoKeys(pem: string) {
  const { subtle } = globalThis.crypto
  const privateKey = createPrivateKey(pem)
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' })
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return {
    privateKey: await subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
    publicKey: await subtle.importKey('spki', spki, algorithm, true, ['verify']),
  }
}

function validity(now: number, days: number): { notBefore: Date; notAfter: Date } {
  const notBefore = now - earlierMs
  return { notBefore: new Date(notBefore), notAfter: new Date(notBefore + days * day - 1_000) }
}

/** Returns 127 random bits in hex, positive and without leading zeros (RFC 5280, section 4.1.2.2). */
function serial(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString('hex')
}
