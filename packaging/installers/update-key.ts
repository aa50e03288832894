import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { parsePublicKeys, publisherKeysFile } from '../../main/updates/publisher-keys.ts'
import { proveDescription, signatureEnding } from '../../main/updates/signed-description.ts'

/** The operator can mend it: its message is all that is shown. */
export class UpdateKeyError extends Error {
  override readonly name = 'UpdateKeyError'
}

/** Flags about keys, and the rest of the command line. */
export interface UpdateKeyFlags {
  /** File of a new private key; empty: the usual one; left out: none is made. */
  newKey?: string
  /** Files of the private keys that sign. */
  signWith: string[]
  /** Arguments for electron-builder. */
  rest: string[]
}

/** Reads `--update-key[=FILE]` and `--sign-with=FILE`, or the files in `ROOMDESK_UPDATE_KEY`. @throws UpdateKeyError */
export function readUpdateKeyFlags(argv: readonly string[], env: NodeJS.ProcessEnv): UpdateKeyFlags {
  const flags: UpdateKeyFlags = { signWith: [], rest: [] }
  const pending = [...argv]
  for (let argument = pending.shift(); argument !== undefined; argument = pending.shift()) {
    const [name, given] = argument.split(/=(.*)/s)
    if (name !== '--update-key' && name !== '--sign-with') {
      flags.rest.push(argument)
      continue
    }
    const value = given ?? (pending[0]?.startsWith('-') === false ? pending.shift() : undefined)
    if (name === '--update-key') flags.newKey = value ?? ''
    else if (value) flags.signWith.push(value)
    else throw new UpdateKeyError('--sign-with needs the file of a private key.')
  }
  const { ROOMDESK_UPDATE_KEY: named = '' } = env
  if (flags.signWith.length === 0) flags.signWith = named.split(delimiter).filter((file) => file !== '')
  return flags
}

/**
 * Makes a pair of keys: the private half in a file of its own, the public half in the list of this repository.
 * @param file of the private half; empty: the usual one
 * @param root folder of the repository
 * @returns text for the operator
 * @throws UpdateKeyError
 */
export function makeUpdateKey(file: string, root: string, home = homedir()): string {
  const path = resolve(root, file === '' ? join(home, '.roomdesk/update-key.pem') : file)
  const below = relative(root, path)
  if (!below.startsWith('..') && !isAbsolute(below))
    throw new UpdateKeyError(
      `${path} is inside the repository, where a private key would be published one day. Name a file outside of it.`,
    )
  if (existsSync(path))
    throw new UpdateKeyError(
      `${path} exists and is not overwritten. For another key name another file: --update-key=FILE`,
    )
  const list = join(root, publisherKeysFile)
  const before = readFileSync(list, 'utf8')
  const isFirst = parsePublicKeys(before).length === 0
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 })
  const made = new Date().toISOString().slice(0, 10)
  writeFileSync(
    list,
    `${before.trimEnd()}\n\nMade ${made}:\n${publicKey.export({ type: 'spki', format: 'pem' }).toString()}`,
  )
  return [
    `The private key is ${path}, readable by you alone.`,
    'Whoever has it can offer updates to your apps; if it is lost, your apps take no update any more. Keep a copy offline, and never in a repository.',
    `The public key was added to ${publisherKeysFile}. Commit it: apps that are packed from now on take updates signed with this key.`,
    isFirst
      ? `Sign each release: npm run package -- --sign-with=${path}, or ROOMDESK_UPDATE_KEY=${path}`
      : 'Apps in use know the older keys alone: sign with an older and the new key until all of them are updated (--sign-with=OLD --sign-with=NEW).',
  ].join('\n')
}

/** Private keys that sign the releases of this repository. */
export type SigningKeys = readonly KeyObject[]

/**
 * Reads private keys. One of them must belong to a public key of the repository: otherwise not even the apps that are packed here took the release.
 * @throws UpdateKeyError
 */
export function readSigningKeys(files: readonly string[], root: string): SigningKeys {
  const keys = files.map((file) => readPrivateKey(resolve(file)))
  const known = publicKeysOf(root)
  const isKnown = keys.some((key) => known.some((one) => one.equals(createPublicKey(key))))
  if (keys.length > 0 && !isKnown)
    throw new UpdateKeyError(
      `No app that is packed here would take what ${files.join(', ')} signs: its public half is not in ${publisherKeysFile}. It is printed by: openssl pkey -in FILE -pubout`,
    )
  return keys
}

/**
 * Signs the descriptions that electron-builder wrote, each into a file beside it; without a key, removes signatures that do not belong to them any more.
 * @param since time in milliseconds: descriptions of earlier builds stay as they are
 * @returns a sentence for the operator
 */
export function signDescriptions(folder: string, keys: SigningKeys, root: string, since: number): string {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^latest.*\.yml$/.test(name)) : []
  const written = names.filter((name) => statSync(join(folder, name)).mtimeMs >= since)
  const list = written.join(', ')
  const known = publicKeysOf(root)
  if (written.length === 0) return 'No latest*.yml was written: there is no update to sign.'
  for (const name of written) {
    const path = join(folder, name)
    rmSync(`${path}${signatureEnding}`, { force: true })
    if (keys.length === 0) continue
    const bytes = readFileSync(path)
    const signatures = keys.map((key) => `${sign(null, bytes, key).toString('base64')}\n`).join('')
    proveDescription(bytes, signatures, known, name)
    writeFileSync(`${path}${signatureEnding}`, signatures)
  }
  if (keys.length > 0) return `Signed ${list}: copy the ${signatureEnding} files with them.`
  if (known.length === 0)
    return `Not signed: ${list}. These apps have no update key and take no updates. npm run package -- --update-key makes one.`
  return `Not signed: ${list}. No app takes this as an update: give the private key by --sign-with=FILE or ROOMDESK_UPDATE_KEY.`
}

const publicKeysOf = (root: string): KeyObject[] => parsePublicKeys(readFileSync(join(root, publisherKeysFile), 'utf8'))

function readPrivateKey(path: string): KeyObject {
  try {
    const key = createPrivateKey(readFileSync(path))
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (cause) {
    throw new UpdateKeyError(`The private key cannot be read: ${path}`, { cause })
  }
  throw new UpdateKeyError(`${path} is not an Ed25519 key. npm run package -- --update-key makes one.`)
}
