import { onTestFinished } from 'vitest'
import { Credentials } from '../../../server/access/credentials.ts'
import { DigestCache, digestText, hmacKey } from '../../../server/access/digest.ts'
import { type SessionCheck, Sessions, type SessionsOptions } from '../../../server/access/sessions.ts'
import type { StuckDisk } from '../../../server/lab/stuck-disk.ts'
import type { Store } from '../../../server/store/store.ts'
import { defaultSettings, type Settings } from '../../../shared/settings.ts'
import type { DigestForm } from '../../../shared/settings/network.ts'
import { temporaryStore } from './store-site.ts'

export const secret = 'demo_secret'
const key = hmacKey(secret)

/** A clock that a test sets, in milliseconds since the epoch. */
export interface SetClock {
  now: number
}

/** Credentials and sessions over a store in a folder of its own; removed with the test. */
export interface AccessSite {
  readonly store: Store
  /** Holds flushes of the store back. */
  stuckDisk: StuckDisk
  folder: string
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly digests: DigestCache
  settings: Settings
  clock: SetClock
  /** Opens a session of `demo_access` and returns its token. */
  open(form?: DigestForm, accessKey?: string): string
  check(token: string): SessionCheck
  /** Stops everything and starts it again on the same folder. */
  restart(): Promise<void>
}

export async function accessSite(options: Partial<SessionsOptions> = {}): Promise<AccessSite> {
  const settings = defaultSettings()
  const files = await temporaryStore(() => settings.deadlines.store_ms)
  const clock: SetClock = { now: Date.parse('2026-11-20T12:00:00Z') }
  const build = () => {
    const { store } = files
    const sessions = new Sessions({ store, settings: () => settings, now: () => clock.now, ...options })
    return { sessions, credentials: new Credentials(store, sessions, () => clock.now), digests: new DigestCache(store) }
  }
  let parts = build()
  onTestFinished(async () => {
    parts.sessions.close()
    await files.remove()
  })
  await parts.credentials.create({
    label: 'Demo',
    access_key: 'demo_access',
    secret_key: secret,
    p2p: false,
    enabled: true,
  })
  return {
    settings,
    clock,
    folder: files.folder,
    stuckDisk: files.stuckDisk,
    get store() {
      return files.store
    },
    get sessions() {
      return parts.sessions
    },
    get credentials() {
      return parts.credentials
    },
    get digests() {
      return parts.digests
    },
    open(form = 'sha1-hex', accessKey = 'demo_access') {
      const opened = parts.sessions.open({ accessKey, form, secret: key })
      return digestText(form, key, `${opened.random}:${opened.key}`)
    },
    check: (token) => parts.sessions.check(token),
    async restart() {
      parts.sessions.close()
      await files.reopen()
      parts = build()
    },
  }
}
