import { X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import { generate } from 'selfsigned'

/** A certificate of its own, in the files of a folder. */
export async function certificateFiles(folder: string): Promise<{ cert_file: string; key_file: string }> {
  const files = { cert_file: join(folder, 'site.crt'), key_file: join(folder, 'site.key') }
  await renew(files)
  return files
}

/** Puts a new certificate in these files, its key first. Returns its fingerprint. */
export async function renew(files: { cert_file: string; key_file: string }): Promise<string> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  await writeFile(files.key_file, made.private)
  await writeFile(files.cert_file, made.cert)
  return new X509Certificate(made.cert).fingerprint256
}

/** Fingerprint of the certificate that a port shows to a new connection. */
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
