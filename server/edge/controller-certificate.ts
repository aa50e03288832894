import { join } from 'node:path'
import { ownCertificate } from './own-certificate.ts'
import type { CertifiedNames } from './site-names.ts'
import type { TlsMaterial } from './tls.ts'

/** Others know the certificate itself, whatever it is for. The name can be nobody's (RFC 9476). */
const names: CertifiedNames = { dns: ['controller.alt'], addresses: [] }

/** The certificate by which the other controllers of a site know this one, where its ports are plain HTTP for everybody else. Made at the first start. */
export async function controllerCertificate(dataFolder: string): Promise<TlsMaterial> {
  const folder = join(dataFolder, 'tls', 'controller')
  const { cert, key } = await ownCertificate(folder, { current: names, permitted: names, chosen: names })
  return { cert, key }
}
