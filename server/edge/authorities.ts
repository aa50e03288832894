import { rootCertificates } from 'node:tls'
import { maxKeyFileBytes, readRegularFile } from '../../shared/files/regular-file.ts'

/**
 * Reads the authorities that may sign a server's certificate: the well-known authorities, and the authorities in a PEM
 * file.
 * @param file path; empty: only the well-known authorities
 * @throws UnusableFileError and errors of the file system, with their codes; Error if the file contains no certificate
 */
export async function readAuthorities(file: string): Promise<string[]> {
  if (file === '') return [...rootCertificates]
  const own = (await readRegularFile(file, maxKeyFileBytes)).toString('utf8')
  if (!own.includes('-----BEGIN CERTIFICATE-----')) throw new Error('The file of authorities holds no certificate.')
  return [...rootCertificates, own]
}

/**
 * Whether an error of a TLS connection concerns the certificate.
 * @param code error code of Node.js, e.g. `SELF_SIGNED_CERT_IN_CHAIN`
 */
export function isOfCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO|TLS/.test(code)
}
