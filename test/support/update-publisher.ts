import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readRelease, type VerifiedRelease } from '../../main/updates/release.ts'

/** Publisher of updates, with a key of its own. */
export class UpdatePublisher {
  readonly #pair = generateKeyPairSync('ed25519')

  get publicKey(): KeyObject {
    return this.#pair.publicKey
  }

  get publicPem(): string {
    return this.#pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  }

  get privatePem(): string {
    return this.#pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }

  /** Makes the content of the `.sig` file beside a description. */
  sign(description: string | Uint8Array): string {
    return `${sign(null, Buffer.from(description), this.#pair.privateKey).toString('base64')}\n`
  }
}

/** Release with one installer, read as the app reads it. */
export async function verifiedRelease(file: string, content: string): Promise<VerifiedRelease> {
  const publisher = new UpdatePublisher()
  const sha512 = createHash('sha512').update(content).digest('base64')
  const text = JSON.stringify({ version: '2.0.0', files: [{ url: file, sha512, size: Buffer.byteLength(content) }] })
  const open = async function* (name: string) {
    yield Buffer.from(name.endsWith('.sig') ? publisher.sign(text) : text)
  }
  const target = { platform: 'linux', arch: 'x64', isAppImage: file.endsWith('.AppImage') } as const
  const app = { version: '1.0.0', keys: [publisher.publicKey] }
  const release = await readRelease({ open: async (name) => open(name) }, target, app)
  if (release === undefined) throw new Error('it is not newer')
  return release
}
