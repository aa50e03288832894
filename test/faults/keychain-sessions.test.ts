import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isGenuine } from '../e2e/desktop.ts'
import { startAlone } from '../e2e/lone-app.ts'

/** One site whose key is in the keychain, over sessions in which the keychain is locked or not. Only the stand-in's keychain can be set. */
describe.skipIf(isGenuine || process.platform !== 'linux')('a site with its key in the keychain', () => {
  let folder: string
  let session: string
  let answer: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomdesk-keychain-'))
    session = join(folder, 'session')
    answer = join(folder, 'answer')
    await writeFile(session, 'working')
  })
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const start = () =>
    startAlone({
      userData: join(folder, 'user'),
      env: { STANDIN_KEYCHAIN: session, ANSWER_FILE: answer, LANG: 'en_US.UTF-8' },
      before: ['test/support/answers.cjs'],
    })
  const sealedKey = () => readFile(join(folder, 'user/site/seal.key.wrapped'))

  test('is created with a working keychain, and no key file lies beside it', async () => {
    await using app = await start()
    await app.answers()
    expect((await sealedKey()).subarray(0, 3).toString()).toBe('v11')
    expect(existsSync(join(folder, 'user/site/seal.key'))).toBe(false)
    process.kill(app.pid, 'SIGTERM')
    expect(await app.ended).toEqual([0, null])
  })

  test('does not open while the keychain is locked: the operator unlocks it, retries, and it opens', async () => {
    const before = await sealedKey()
    await writeFile(session, 'locked')
    await using app = await start()
    expect(await app.line(/^asked: /)).toMatch(
      /^asked: The keychain is locked: .*seal\.key\.wrapped.*"Try Again","Quit Roomdesk"/,
    )
    await writeFile(session, 'working')
    await writeFile(answer, '0')
    expect(await app.ended).toEqual([0, null])
    await app.answers()
    expect(await sealedKey()).toEqual(before)
    const successor = await app.current()
    expect(successor).not.toBe(app.pid)
    process.kill(successor, 'SIGTERM')
    await expect.poll(app.current).toBe(0)
  })

  test('ends without a trace if the operator quits', async () => {
    const before = await sealedKey()
    await writeFile(session, 'v10')
    await writeFile(answer, '1')
    await using app = await start()
    expect(await app.line(/^asked: /)).toContain('The keychain does not open this site')
    expect(await app.ended).toEqual([1, null])
    expect(await sealedKey()).toEqual(before)
    expect(existsSync(join(folder, 'user/site/seal.key'))).toBe(false)
  })
})
