import { expect, test } from 'vitest'
import { authenticateHandler } from '../../../../server/apis/authenticate.ts'
import { ClientRateLimit } from '../../../../server/edge/client-address.ts'
import { authenticate } from '../../../../shared/media-operations.ts'
import { ApiError } from '../../../../shared/result-codes.ts'
import { digestForms } from '../../../../shared/settings/network.ts'
import { digestText, hmacKey } from '../../../../server/access/digest.ts'
import { digestOf } from '../../../support/api-client.ts'
import { type AccessSite, accessSite, secret } from '../../../support/sites/access-site.ts'

const right = digestOf(secret, 'demo_access')

/** Opens the operation as the listener runs it, with a monotonic clock that a test sets. */
async function open({ stored = false, limit = 100 } = {}) {
  const site = await accessSite({ limit })
  const time = { now: 0 }
  const failures = new ClientRateLimit({
    max: () => site.settings.access.failures_per_minute,
    windowMs: 60_000,
    now: () => time.now,
  })
  const handler = authenticateHandler({ ...servicesOf(site), stored, failures })
  const call = async (accessKey: string, digest: string, client = '10.0.0.1') => {
    const params = authenticate.params.parse({ access_key: accessKey, digest })
    return await handler(params, { client, accessKey: '' })
  }
  const refusal = async (...parameters: Parameters<typeof call>) => {
    const error = await call(...parameters).catch((thrown: unknown) => thrown)
    if (!(error instanceof ApiError)) throw new Error('it was not refused')
    return error
  }
  return { site, time, failures, call, refusal }
}

const servicesOf = (site: AccessSite) => ({
  store: site.store,
  sessions: site.sessions,
  digests: site.digests,
  settings: () => site.settings,
})

test.each(digestForms)('a %s digest opens a session whose token has that form', async (form) => {
  const { site, call } = await open()
  const key = hmacKey(secret)
  const { random, key: given } = await call('demo_access', digestText(form, key, 'demo_access'))
  expect(site.check(digestText(form, key, `${random}:${given}`)).ok).toBe(true)
  const others = digestForms.filter((other) => other !== form)
  for (const other of others) expect(site.check(digestText(other, key, `${random}:${given}`)).ok).toBe(false)
})

test('a setting restricts the digest forms', async () => {
  const { site, call, refusal } = await open()
  site.settings.access.digest_forms = ['sha256-raw']
  expect((await refusal('demo_access', right)).reason).toContain('sha1-hex is switched off')
  await call('demo_access', digestText('sha256-raw', hmacKey(secret), 'demo_access'))
})

test.each([
  ['', '', 'no access_key was given'],
  ['demo_access', '', 'no digest was given'],
  ['demo_access', '***', 'the digest is not base64'],
  ['demo_access', 'abcd', 'the digest decodes to 3 bytes, which no form has'],
  [
    'demo_access',
    digestOf('wrong', 'demo_access'),
    'the digest does not match: another secret_key, or another message than the access_key',
  ],
  ['nobody', right, 'there is no credential with this access_key'],
  ['__proto__', right, 'there is no credential with this access_key'],
])('access_key %j with digest %j is 401, and only the operator learns why', async (accessKey, digest, reason) => {
  const { refusal } = await open()
  const error = await refusal(accessKey, digest)
  expect(error).toMatchObject({ code: 'authenticationFailed', reason, message: 'access_key or digest is wrong.' })
})

test('a disabled credential is 401', async () => {
  const { site, refusal } = await open()
  await site.credentials.update('demo_access', { enabled: false })
  expect(await refusal('demo_access', right)).toMatchObject({
    code: 'authenticationFailed',
    reason: expect.stringContaining('disabled'),
  })
})

test('20 failures a minute from one address, then 401 until the minute is over', async () => {
  const { time, call, refusal, failures } = await open()
  for (let i = 0; i < 20; i++) {
    time.now += 1_000
    expect((await refusal('demo_access', 'abcd')).code).toBe('authenticationFailed')
  }
  expect((await refusal('demo_access', right)).code).toBe('tooManyFailures')
  expect(failures.reached('10.0.0.1')).toBe(true)
  await call('demo_access', right, '10.0.0.2')
  time.now += 40_999
  expect((await refusal('demo_access', right)).code).toBe('tooManyFailures')
  time.now += 1
  await call('demo_access', right)
  expect(failures.reached('10.0.0.1')).toBe(false)
})

test('successes do not count, and 0 means no limit', async () => {
  const { site, call, refusal } = await open()
  for (let i = 0; i < 30; i++) await call('demo_access', right)
  site.settings.access.failures_per_minute = 0
  for (let i = 0; i < 30; i++) expect((await refusal('demo_access', 'abcd')).code).toBe('authenticationFailed')
  await call('demo_access', right)
})

test.each([
  ['is stored later', false],
  ['is stored first', true],
])(
  'where a session %s, a disk that does not answer is 504 after the deadline, and a wrong digest is 401 all the same',
  async (_, stored) => {
    const { site, refusal } = await open({ stored })
    site.settings.deadlines.store_ms = 1_000
    site.stuckDisk.begin(10)
    const change = site.credentials.update('demo_access', { label: 'stuck' }).catch((error: unknown) => error)
    await expect.poll(() => site.store.status().flushingFor).toBeGreaterThan(0)
    // Set only now: on a busy machine the change itself could time out before it was seen to wait.
    site.settings.deadlines.store_ms = 150
    expect((await refusal('demo_access', right)).code).toBe('authenticationTimeout')
    expect((await refusal('demo_access', 'abcd')).code).toBe('authenticationFailed')
    site.stuckDisk.end()
    await change
  },
)

test('a session that is stored first is on disk before its token is returned', async () => {
  const { site, call } = await open({ stored: true })
  site.stuckDisk.begin(10)
  const opened = call('demo_access', right)
  let given = false
  void opened.then(() => (given = true))
  await expect.poll(() => site.store.status().backlog).toBe(1)
  expect([given, site.sessions.total]).toEqual([false, 0])
  site.stuckDisk.end()
  const { random, key } = await opened
  expect(site.check(digestOf(secret, `${random}:${key}`)).ok).toBe(true)
})

test('a secret changed while a session is being stored ends that session, too', async () => {
  const { site, call } = await open({ stored: true })
  site.stuckDisk.begin(10)
  const opened = call('demo_access', right)
  const rotated = site.credentials.rotate('demo_access')
  await expect.poll(() => site.store.status().backlog).toBe(2)
  site.stuckDisk.end()
  const { random, key } = await opened
  await rotated
  expect(site.check(digestOf(secret, `${random}:${key}`))).toEqual({
    ok: false,
    reason: 'the session has ended: its credential got a new secret',
  })
  expect(site.store.all('sessions').size).toBe(0)
})

test('sessions that are stored first replace the least recently used one', async () => {
  const { site, call } = await open({ stored: true, limit: 3 })
  const tokenOf = async () => {
    const { random, key } = await call('demo_access', right)
    return digestOf(secret, `${random}:${key}`)
  }
  const first = await tokenOf()
  const others = await Promise.all([tokenOf(), tokenOf(), tokenOf()])
  expect(site.check(first)).toMatchObject({ ok: false, reason: expect.stringContaining('pushed out') as string })
  expect(others.map((token) => site.check(token).ok)).toEqual([true, true, true])
})
