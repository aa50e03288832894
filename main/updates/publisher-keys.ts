import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'

/** File with the public keys of the publisher, in this repository and in the packaged app. */
export const publisherKeysFile = 'packaging/update-keys.pem'

/**
 * Reads the keys that may sign a release for this app. While the publisher changes its key, the file contains both the
 * old and the new key.
 * @returns an empty list if the build has no key or the file is broken: such an app accepts no updates
 */
export function publisherKeys(appPath: string, logger: Pick<Logger, 'error'>): readonly KeyObject[] {
  try {
    return parsePublicKeys(readFileSync(join(appPath, publisherKeysFile), 'utf8'))
  } catch (error) {
    logger.error({ err: error }, 'the keys that sign updates are unreadable')
    return []
  }
}

/** Parses Ed25519 public keys in PEM (RFC 7468), with optional text between them. @throws Error for any other key */
export function parsePublicKeys(text: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g) ?? []
  return blocks.map((block) => {
    if (!block.startsWith('-----BEGIN PUBLIC KEY-----')) throw new Error('Only public keys belong into this file.')
    const key = createPublicKey(block)
    if (key.asymmetricKeyType !== 'ed25519')
      throw new Error(`A key for updates is ${key.asymmetricKeyType}, not Ed25519.`)
    return key
  })
}
