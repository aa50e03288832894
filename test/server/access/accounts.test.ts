import { expect, onTestFinished, test } from 'vitest'
import { AccessTokens } from '../../../server/access/accounts/access-tokens.ts'
import { AccountSessions } from '../../../server/access/accounts/account-sessions.ts'
import { Accounts } from '../../../server/access/accounts/accounts.ts'
import { hashPassword, isPasswordOf } from '../../../server/access/accounts/password-hash.ts'
import { SignIn } from '../../../server/access/accounts/sign-in.ts'
import { temporaryStore } from '../../support/sites/store-site.ts'

const day = 24 * 60 * 60 * 1_000
const password = 'correct horse battery'

/** Accounts with a clock that the test sets. */
async function access() {
  const files = await temporaryStore()
  onTestFinished(() => files.remove())
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') }
  const now = (): number => clock.now
  const { store } = files
  const accounts = new Accounts(store, now, { ln: 4, r: 8, p: 1 })
  return {
    ...{ clock, accounts },
    signIn: new SignIn(accounts, now),
    sessions: new AccountSessions(store, now),
    tokens: new AccessTokens(store, now),
  }
}

test('A token expires on its day, and never has more rights than its account has now', async () => {
  const { accounts, tokens, clock } = await access()
  const { id } = await accounts.create('anna', 'operator', password)
  await expect(tokens.create(id, { label: 'CI', role: 'admin', days: 90 })).rejects.toMatchObject({ code: 'forbidden' })
  const { token, access: made } = await tokens.create(id, { label: 'CI', days: 90 })
  expect(token).toMatch(/^rdp_[\w-]{43}$/)
  expect(made).toMatchObject({ label: 'CI', role: 'operator', expires_at: clock.now + 90 * day, last_used_at: 0 })
  expect(tokens.check(token)).toMatchObject({ role: 'operator', label: 'CI' })
  expect(tokens.list(id)[0]?.last_used_at).toBe(clock.now)
  await accounts.update(id, { role: 'viewer' })
  expect(tokens.check(token)?.role).toBe('viewer')
  await accounts.update(id, { role: 'admin' })
  expect(tokens.check(token)?.role).toBe('operator')
  await accounts.update(id, { enabled: false })
  expect(tokens.check(token)).toBeUndefined()
  await accounts.update(id, { enabled: true })
  // The token ended with the account; enabling the account again does not restore it.
  expect(tokens.check(token)).toBeUndefined()
  const { token: second } = await tokens.create(id, { label: 'CI', days: 90 })
  clock.now += 90 * day - 1
  expect(tokens.check(second)).toBeDefined()
  clock.now += 1
  expect(tokens.check(second)).toBeUndefined()
})

test('A session lasts seven days, and the least recently used one ends when there are too many', async () => {
  const { accounts, sessions, clock } = await access()
  const account = await accounts.create('anna', 'viewer', password)
  const from = { address: '10.0.0.7', browser: 'Firefox\u0000 on Linux' }
  const first = sessions.open(account, from)
  expect(sessions.list(account.id, '')[0]).toMatchObject({ address: '10.0.0.7', browser: 'Firefox on Linux' })
  clock.now += 7 * day - 1
  expect(sessions.check(first.cookie, first)?.account.name).toBe('anna')
  clock.now += 1
  expect(sessions.check(first.cookie, first)).toBeUndefined()
  const begun = Array.from({ length: 51 }, () => {
    clock.now += 1
    return sessions.open(account, from)
  })
  expect(begun.map((session) => sessions.check(session.cookie, session) !== undefined).filter(Boolean)).toHaveLength(50)
  expect(begun[0] && sessions.check(begun[0].cookie, begun[0])).toBeUndefined()
})

test('An address is blocked from an account after five wrong passwords a minute, from all accounts after twenty; a minute later sign-in works again', async () => {
  const { accounts, signIn, clock } = await access()
  await accounts.create('anna', 'viewer', password)
  const verdict = async (client: string, name: string, secret: string) =>
    (await signIn.judge(client, name, secret)).verdict
  for (let turn = 0; turn < 5; turn++) expect(await verdict('10.0.0.9', 'Anna', 'wrong')).toBe('wrong')
  expect(await signIn.judge('10.0.0.9', 'anna', password)).toMatchObject({ verdict: 'blocked', retryAfter: 60 })
  expect(await verdict('10.0.0.8', 'anna', password)).toBe('right')
  // Correct passwords do not count.
  for (let turn = 0; turn < 9; turn++) expect(await verdict('10.0.0.8', 'anna', password)).toBe('right')
  for (let turn = 5; turn < 20; turn++) expect(await verdict('10.0.0.9', `guess ${turn}`, 'wrong')).toBe('wrong')
  expect(await verdict('10.0.0.9', 'yet another', 'wrong')).toBe('blocked')
  clock.now += 60_000
  expect(await verdict('10.0.0.9', 'anna', password)).toBe('right')
})

test('A hash stores its cost, so a higher cost later keeps old passwords valid; no two hashes are the same', async () => {
  const cheap = { ln: 4, r: 8, p: 1 }
  const [one, other] = [await hashPassword(password, cheap), await hashPassword(password, cheap)]
  expect(one).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$/)
  expect(one).not.toBe(other)
  const real = await hashPassword('\u00c5ngstr\u00f6m units')
  expect(real).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/)
  // Another keyboard composes the same letters of two code points.
  expect(await isPasswordOf(real, 'A\u030angstro\u0308m units')).toBe(true)
  expect(await isPasswordOf(one, `${password} `)).toBe(false)
  await expect(isPasswordOf('plain', 'plain')).rejects.toThrow('not a scrypt hash')
})
