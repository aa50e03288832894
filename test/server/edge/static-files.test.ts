import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StaticFiles } from '../../../server/edge/static-files.ts'
import { shared } from '../../support/fixtures.ts'

const folder = shared(
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roomdesk-files-'))
    await mkdir(join(folder, 'page/assets'), { recursive: true })
    await writeFile(join(folder, 'secret.json'), '{}')
    await writeFile(join(folder, 'page/index.html'), 'page')
    await writeFile(join(folder, 'page/assets/x.js'), 'script')
    await writeFile(join(folder, 'page/assets/key.pem'), 'no type that is served')
    return folder
  },
  (folder) => rm(folder, { recursive: true }),
)

const open = () => new StaticFiles(join(folder(), 'page'))

test('a file is read and cached once, however its path is spelled', async () => {
  const files = open()
  const spellings = [
    '/assets/x.js',
    '/assets//x.js',
    '/./assets/x.js',
    '/assets/%78.js',
    '/%61ssets/x%2ejs',
    '/assets%2fx.js',
    ...Array.from({ length: 300 }, (_, turn) => `/v${turn}/../assets/x.js`),
  ]
  const found = await Promise.all(spellings.map((path) => files.file(path)))
  expect(new Set(found).size).toBe(1)
  expect(found[0]).toMatchObject({ body: Buffer.from('script'), immutable: true })
  expect(files.kept).toEqual({ files: 1, bytes: 6 })
})

test('names that do not exist, or lead out of the folder, are not cached', async () => {
  const files = open()
  const paths = ['/../secret.json', '/..%2fsecret.json', '/%2e%2e/%2e%2e/etc/passwd', '/assets/%00.js', '/%', '/assets']
  for (const path of [...paths, '/ASSETS/X.JS', '/assets\\x.js', '/assets/key.pem', '/none.js']) {
    expect(await files.file(path), path).toBeUndefined()
  }
  expect(files.kept).toEqual({ files: 0, bytes: 0 })
})

test('the folder itself serves its page, which may change', async () => {
  const files = open()
  expect(await files.file('/')).toMatchObject({ body: Buffer.from('page'), immutable: false })
  expect(await files.file('/')).toBe(await files.file('/index.html'))
  expect(await new StaticFiles('').file('/')).toBeUndefined()
})
