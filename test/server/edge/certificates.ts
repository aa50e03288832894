import { X509Certificate } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { generate } from 'selfsigned'

/** Writes a self-signed certificate into files of a folder. */
export async function certificateFiles(folder: string): Promise<{ cert_file: string; key_file: string }> {
  const files = { cert_file: join(folder, 'site.crt'), key_file: join(folder, 'site.key') }
  await renew(files)
  return files
}

/** Writes a new certificate into these files, its key first. Returns its fingerprint. */
export async function renew(files: { cert_file: string; key_file: string }): Promise<string> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  await writeFile(files.key_file, made.private)
  await writeFile(files.cert_file, made.cert)
  return new X509Certificate(made.cert).fingerprint256
}

/** Writes an authority of older versions into a folder: for ten years, and for every name. Returns its key. */
export async function olderAuthority(folder: string): Promise<string> {
  const made = await generate([{ name: 'commonName', value: 'Roomdesk authority 2025-01-01' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 3_650 * 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'authority.crt'), made.cert)
  await writeFile(join(folder, 'authority.key'), made.private)
  return made.private
}

/** Reads the fingerprint of the certificate on a port, over a new connection. */
export function shown(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.once('error', reject)
  })
}
