import { join } from 'node:path'
import { ownCertificate } from './own-certificate.ts'
import type { CertifiedNames } from './site-names.ts'
import { controllerName } from './tls-beside-http.ts'
import type { TlsMaterial } from './tls.ts'

/** Others know the certificate itself, whatever it is for. */
const names: CertifiedNames = { dns: [controllerName], addresses: [] }

/** The certificate by which the other controllers of a site know this one, where its ports are plain HTTP for everybody else. Made at the first start. */
export async function controllerCertificate(dataFolder: string): Promise<TlsMaterial> {
  const folder = join(dataFolder, 'tls', 'controller')
  const { cert, key } = await ownCertificate(folder, { current: names, permitted: names, chosen: names })
  return { cert, key }
}
