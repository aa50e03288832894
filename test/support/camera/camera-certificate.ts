import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Makes a self-signed certificate for a camera. Resolves to the file that holds it and its key. */
export async function cameraCertificate(folder: string): Promise<string> {
  const [key, certificate, both] = [join(folder, 'key.pem'), join(folder, 'cert.pem'), join(folder, 'both.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync('openssl', [...made, '-subj', '/CN=camera', '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  await writeFile(both, `${await readFile(certificate, 'utf8')}${await readFile(key, 'utf8')}`)
  return both
}
