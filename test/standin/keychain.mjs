/**
 * `safeStorage` as on Linux. `STANDIN_KEYCHAIN` sets the session of the app, or names a file with it:
 * - `none` (or nothing): a desktop without a keychain known to Chromium;
 * - `v10`: a desktop whose keychain does not run: Chromium seals with the key in its own source, and reports encryption as available;
 * - `locked`: the keychain runs and stays locked;
 * - `working`.
 * On Windows the key is in the file `Local State` of the session's folder: what was sealed with one such file no other opens. Electron reads it once it has run the app's main
 * module, and makes it if there is none (browser_process_impl.cc, `PostEarlyInitialization`, `CreateOSCryptAsync`).
 * It encrypts nothing and only imitates the outcomes. The session is read once: Electron keeps it until the process ends.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strict } from './strict.mjs'

/** Key of `Local State`, on Windows. */
let localKey = ''

/** Reads `Local State`, or makes it. @param folder `sessionData` */
export function readLocalState(folder) {
  const file = join(folder, 'Local State')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(file)) writeFileSync(file, JSON.stringify({ os_crypt: { encrypted_key: randomUUID() } }))
  localKey = JSON.parse(readFileSync(file, 'utf8')).os_crypt.encrypted_key
}

const modes = ['none', 'v10', 'locked', 'working']
let mode

function found() {
  const said = process.env.STANDIN_KEYCHAIN || 'none'
  mode ??= said.startsWith('/') ? readFileSync(said, 'utf8').trim() : said
  if (!modes.includes(mode)) throw new Error(`stand-in: no keychain is ${mode}: ${modes.join(', ')}`)
  return mode
}

const failure = 'Error while decrypting the ciphertext provided to safeStorage.decryptStringAsync.'

/** The prefix names the key: `v10` Chromium's public one, `v11` the keychain's. */
const masks = { v10: 0x5a, v11: 0xa5 }
const flip = (bytes, mask) => Buffer.from(bytes.map((byte) => byte ^ mask))

export const safeStorage = strict('safeStorage', {
  /** True in all sessions. */
  isAsyncEncryptionAvailable: async () => found() !== undefined,
  getSelectedStorageBackend: () => (found() === 'none' ? 'basic_text' : 'gnome_libsecret'),
  async encryptStringAsync(text) {
    const prefix = found() === 'working' ? 'v11' : 'v10'
    return Buffer.concat([Buffer.from(prefix), flip(Buffer.from(localKey + text), masks[prefix])])
  },
  async decryptStringAsync(bytes) {
    const prefix = bytes.subarray(0, 3).toString()
    if (prefix === 'v11' && found() === 'locked')
      throw new Error('safeStorage.decryptStringAsync is temporarily unavailable. Please try again.')
    if (!(prefix in masks) || (prefix === 'v11' && found() !== 'working')) throw new Error(failure)
    const opened = flip(bytes.subarray(3), masks[prefix]).toString()
    if (!opened.startsWith(localKey)) throw new Error(failure)
    const result = opened.slice(localKey.length)
    return { result, shouldReEncrypt: prefix === 'v10' && found() === 'working' }
  },
  /** Stand-in only: another process in another session. */
  _begin: (session) => void (mode = session),
})
