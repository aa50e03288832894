/**
 * `safeStorage` as it is on Linux. `STANDIN_KEYCHAIN` says in which session the app is, or names a file that does:
 * - `none` (or nothing): a desktop that Chromium knows no keychain of;
 * - `v10`: one that it knows a keychain of, but none runs: it seals with the key in its own source, and says that encryption is available;
 * - `locked`: the keychain runs and nobody unlocks it;
 * - `working`.
 * It hides nothing; it only goes the same ways. Which session it is, is looked up once: Electron keeps what it finds until the process ends.
 */
import { readFileSync } from 'node:fs'
import { strict } from './strict.mjs'

const modes = ['none', 'v10', 'locked', 'working']
let mode

function found() {
  const said = process.env.STANDIN_KEYCHAIN || 'none'
  mode ??= said.startsWith('/') ? readFileSync(said, 'utf8').trim() : said
  if (!modes.includes(mode)) throw new Error(`stand-in: no keychain is ${mode}: ${modes.join(', ')}`)
  return mode
}

/** The prefix says who sealed: `v10` Chromium with a key that everybody has, `v11` the keychain. */
const masks = { v10: 0x5a, v11: 0xa5 }
const flip = (bytes, mask) => Buffer.from(bytes.map((byte) => byte ^ mask))

export const safeStorage = strict('safeStorage', {
  /** True in every one of them. */
  isAsyncEncryptionAvailable: async () => found() !== undefined,
  getSelectedStorageBackend: () => (found() === 'none' ? 'basic_text' : 'gnome_libsecret'),
  async encryptStringAsync(text) {
    const prefix = found() === 'working' ? 'v11' : 'v10'
    return Buffer.concat([Buffer.from(prefix), flip(Buffer.from(text), masks[prefix])])
  },
  async decryptStringAsync(bytes) {
    const prefix = bytes.subarray(0, 3).toString()
    if (prefix === 'v11' && found() === 'locked')
      throw new Error('safeStorage.decryptStringAsync is temporarily unavailable. Please try again.')
    if (!(prefix in masks) || (prefix === 'v11' && found() !== 'working'))
      throw new Error('Error while decrypting the ciphertext provided to safeStorage.decryptStringAsync.')
    const result = flip(bytes.subarray(3), masks[prefix]).toString()
    return { result, shouldReEncrypt: prefix === 'v10' && found() === 'working' }
  },
  /** The stand-in's own: another process in another session. */
  _begin: (session) => void (mode = session),
})
