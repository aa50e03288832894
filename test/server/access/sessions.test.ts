import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { steadyClock } from '../../../server/access/clock.ts'
import { digestForms } from '../../../shared/settings/network.ts'
import { accessSite, secret } from '../../support/sites/access-site.ts'
import { hmacKey } from '../../../server/access/digest.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

test.each(digestForms)('a session opened by a %s digest has a token in that form', async (form) => {
  const site = await accessSite()
  expect(site.check(site.open(form))).toEqual({ ok: true, accessKey: 'demo_access' })
})

test('a token is valid in every spelling of its base64', async () => {
  const site = await accessSite()
  let token = ''
  // Raw bytes contain + and / sooner or later.
  while (!/[+].*[/]|[/].*[+]/.test(token)) token = site.open('sha1-raw')
  const urlSafe = token.replaceAll('+', '-').replaceAll('/', '_')
  for (const spelling of [
    token,
    token.replaceAll('+', ' '),
    urlSafe,
    urlSafe.replace(/=+$/, ''),
    token.replace(/=+$/, ''),
  ]) {
    expect(site.check(spelling).ok).toBe(true)
  }
})

test('random and key are fresh per call, at least 128 bits each', async () => {
  const site = await accessSite()
  const seen = new Set<string>()
  for (let i = 0; i < 200; i++) {
    const { random, key } = site.sessions.open({ accessKey: 'demo_access', form: 'sha1-hex', secret: hmacKey(secret) })
    expect(random).toMatch(/^[0-9a-f]{32}$/)
    expect(key).toMatch(/^[0-9a-f]{32}$/)
    seen.add(random).add(key)
  }
  expect(seen.size).toBe(400)
})

test('each authentication opens a session; earlier ones stay valid', async () => {
  const site = await accessSite()
  const tokens = [site.open(), site.open(), site.open('sha256-raw')]
  for (const token of tokens) expect(site.check(token).ok).toBe(true)
  expect(site.sessions.count('demo_access')).toBe(3)
})

test('an unknown token is refused, and the operator sees the reason', async () => {
  const site = await accessSite()
  expect(site.check('')).toEqual({ ok: false, reason: 'no access token was given' })
  expect(site.check('d3Jvbmc=')).toEqual({ ok: false, reason: 'there is no session with this token' })
})

test('a token expires 12 hours after its last use', async () => {
  const site = await accessSite()
  const [used, idle] = [site.open(), site.open()]
  site.clock.now += 11 * hour
  expect(site.check(used).ok).toBe(true)
  site.clock.now += 2 * hour
  expect(site.check(used).ok).toBe(true)
  expect(site.check(idle)).toEqual({ ok: false, reason: 'the session has ended: it was not used for 43200 s' })
  expect(site.check(idle).ok).toBe(false)
  expect(site.sessions.count('demo_access')).toBe(1)
})

test('a token expires after 7 days at most', async () => {
  const site = await accessSite()
  const token = site.open()
  for (let hours = 6; hours <= 7 * 24; hours += 6) {
    site.clock.now += 6 * hour
    expect(site.check(token).ok).toBe(true)
  }
  site.clock.now += 1_000
  expect(site.check(token)).toMatchObject({ ok: false, reason: expect.stringContaining('older than') })
})

test('both lifetimes are settings that apply at once', async () => {
  const site = await accessSite()
  const token = site.open()
  site.clock.now += 5_000
  site.settings.access.token_idle_ms = 4_000
  expect(site.check(token).ok).toBe(false)
})

test('the least recently used session ends when there are too many', async () => {
  const site = await accessSite({ limit: 3 })
  const tokens: string[] = []
  for (let i = 0; i < 3; i++) {
    tokens.push(site.open())
    site.clock.now += 1_000
  }
  const [first = '', second = ''] = tokens
  site.check(first)
  tokens.push(site.open())
  expect(tokens.map((token) => site.check(token).ok)).toEqual([true, false, true, true])
  expect(site.check(second)).toMatchObject({ reason: expect.stringContaining('pushed out') })
  expect(site.sessions.count('demo_access')).toBe(3)
  expect(site.store.all('sessions').size).toBe(3)
})

test('sessions of another credential count separately', async () => {
  const site = await accessSite({ limit: 2 })
  const ours = site.open()
  for (let i = 0; i < 5; i++) site.open('sha1-hex', 'somebody_else')
  expect(site.check(ours).ok).toBe(true)
  expect(site.sessions.count('somebody_else')).toBe(2)
  expect(site.sessions.total).toBe(3)
})

test('sessions survive a restart, with their last use', async () => {
  const site = await accessSite()
  const [used, idle] = [site.open('sha256-hex'), site.open()]
  site.clock.now += 11 * hour
  site.check(used)
  await site.restart()
  site.clock.now += 2 * hour
  expect(site.check(used)).toEqual({ ok: true, accessKey: 'demo_access' })
  expect(site.check(idle).ok).toBe(false)
  expect(site.sessions.lastUsedAt('demo_access')).toBe(site.clock.now)
})

test('the order of use survives a restart too', async () => {
  const site = await accessSite({ limit: 2 })
  const first = site.open()
  site.clock.now += minute
  const second = site.open()
  site.clock.now += minute
  site.check(first)
  await site.restart()
  site.open()
  expect([site.check(first).ok, site.check(second).ok]).toEqual([true, false])
})

test('uses are stored at most once a minute', async () => {
  const site = await accessSite()
  const token = site.open()
  let writes = 0
  site.store.onChange(() => writes++)
  for (let second = 0; second < 180; second++) {
    site.clock.now += 1_000
    site.check(token)
  }
  expect(writes).toBe(3)
})

test('expired sessions are removed, in chunks', async () => {
  const site = await accessSite()
  for (let i = 0; i < 1_200; i++) site.open()
  site.clock.now += 6 * hour
  const alive = site.open()
  site.clock.now += 7 * hour
  site.sessions.sweep()
  expect(site.sessions.count('demo_access')).toBe(701)
  await expect.poll(() => site.sessions.count('demo_access')).toBe(1)
  expect(site.check(alive).ok).toBe(true)
  expect(site.store.all('sessions').size).toBe(1)
})

test('no token is on disk: sessions are stored by a hash', async () => {
  const site = await accessSite()
  const token = site.open()
  await site.store.backups.make()
  const [entry] = site.store.all('sessions')
  const [key, stored] = entry ?? ['', undefined]
  expect(stored).toEqual({
    access_key: 'demo_access',
    form: 'sha1-hex',
    created_at: site.clock.now,
    used_at: site.clock.now,
  })
  const entries = await readdir(site.folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  expect(texts.some((text) => text.includes(key))).toBe(true)
  expect(texts.some((text) => text.includes(token.slice(0, 20)))).toBe(false)
})

test('a clock that is set back an hour neither ends nor extends sessions', async () => {
  let wall = Date.parse('2026-11-20T12:00:00Z')
  let monotonic = 0
  const pass = (milliseconds: number) => {
    wall += milliseconds
    monotonic += milliseconds
  }
  const site = await accessSite({
    now: steadyClock(
      () => wall,
      () => monotonic,
    ),
  })
  const token = site.open()
  pass(11 * hour)
  wall -= hour
  expect(site.check(token).ok).toBe(true)
  pass(12 * hour - minute)
  expect(site.check(token).ok).toBe(true)
  pass(12 * hour + minute)
  expect(site.check(token).ok).toBe(false)
})

test('a restart after the clock was set back extends a session by at most that hour', async () => {
  const site = await accessSite()
  const token = site.open()
  site.clock.now -= hour
  await site.restart()
  expect(site.check(token).ok).toBe(true)
  site.clock.now += 12 * hour + 1
  expect(site.check(token).ok).toBe(false)
})

test('the steady clock includes the time during which a machine was suspended', () => {
  let wall = day
  let monotonic = 0
  const clock = steadyClock(
    () => wall,
    () => monotonic,
  )
  wall += 13 * hour
  monotonic += 1
  expect(clock()).toBe(day + 13 * hour)
  wall -= 20 * hour
  monotonic += 5
  expect(clock()).toBe(day + 13 * hour + 5)
})
