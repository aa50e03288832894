import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { parsePublicKeys, publisherKeys, publisherKeysFile } from '../../main/updates/publisher-keys.ts'
import { readRelease } from '../../main/updates/release.ts'
import { updateSource } from '../../main/updates/update-source.ts'
import {
  makeUpdateKey,
  readSigningKeys,
  readUpdateKeyFlags,
  signDescriptions,
} from '../../packaging/installers/update-key.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'
import { UpdatePublisher } from '../support/update-publisher.ts'

const logger = pino({ level: 'silent' })
const target = { platform: 'linux', arch: 'x64', isAppImage: true } as const
const description = JSON.stringify({
  version: '2.0.0',
  files: [{ url: 'Roomdesk.AppImage', sha512: 'x', size: 1 }],
})

/** A repository without a key, and a folder of a release beside it. */
async function repository(): Promise<{ root: string; release: string; home: string }> {
  const folder = await temporaryFolder()
  const [root, release, home] = [join(folder, 'repository'), join(folder, 'release'), join(folder, 'home')]
  await mkdir(join(root, 'packaging'), { recursive: true })
  await mkdir(release)
  await writeFile(
    join(root, publisherKeysFile),
    await readFile(resolve(import.meta.dirname, '../..', publisherKeysFile)),
  )
  await writeFile(join(release, 'latest-linux.yml'), description)
  return { root, release, home }
}

/** Reads the release as an app of this repository does. */
const offered = async (root: string, release: string) =>
  (await readRelease(updateSource(release), target, { version: '1.0.0', keys: publisherKeys(root, logger) }))?.version

test('a publisher creates a key, signs a release with it, and the apps that are packed then accept the release', async () => {
  const { root, release, home } = await repository()
  const text = makeUpdateKey('', root, home)
  const file = join(home, '.roomdesk/update-key.pem')
  expect(text).toContain(`--sign-with=${file}`)
  if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(join(root, publisherKeysFile), 'utf8')).not.toContain('PRIVATE')

  const said = signDescriptions(release, readSigningKeys([file], root), root, 0)
  expect(said).toBe('Signed latest-linux.yml: copy the .sig files with them.')
  expect(await offered(root, release)).toBe('2.0.0')

  // The next build replaces the description, and is not signed: no old signature stays beside it.
  await writeFile(join(release, 'latest-linux.yml'), `${description} `)
  expect(signDescriptions(release, [], root, 0)).toMatch(/^Not signed: latest-linux.yml. No app takes this/)
  await expect(offered(root, release)).rejects.toMatchObject({ problem: 'notSigned' })
})

test('a private key is neither overwritten nor put into the repository', async () => {
  const { root, home } = await repository()
  makeUpdateKey('', root, home)
  const before = await readFile(join(root, publisherKeysFile), 'utf8')
  expect(() => makeUpdateKey('', root, home)).toThrow('is not overwritten')
  expect(() => makeUpdateKey('key.pem', root, home)).toThrow('inside the repository')
  expect(await readFile(join(root, publisherKeysFile), 'utf8')).toBe(before)
})

test('a publisher changes its key: apps with the old one, both and the new one take what both signed', async () => {
  const { root, release, home } = await repository()
  const [old, next] = [join(home, 'old.pem'), join(home, 'next.pem')]
  makeUpdateKey(old, root, home)
  const list = join(root, publisherKeysFile)
  const onlyOld = await readFile(list, 'utf8')
  expect(makeUpdateKey(next, root, home)).toContain('sign with an older and the new key')
  const both = await readFile(list, 'utf8')
  expect(parsePublicKeys(both)).toHaveLength(2)
  signDescriptions(release, readSigningKeys([old, next], root), root, 0)
  for (const keys of [onlyOld, both, both.replace(onlyOld.trim(), '')]) {
    await writeFile(list, keys)
    expect(await offered(root, release)).toBe('2.0.0')
  }
  signDescriptions(release, readSigningKeys([next], root), root, 0)
  await writeFile(list, onlyOld)
  await expect(offered(root, release)).rejects.toMatchObject({ problem: 'otherKey' })
})

test('a key that no app contains signs nothing, and neither does a file that is not a key', async () => {
  const { root, home } = await repository()
  await mkdir(home)
  const strange = join(home, 'strange.pem')
  await writeFile(strange, new UpdatePublisher().privatePem)
  expect(() => readSigningKeys([strange], root)).toThrow('No app that is packed here would take')
  await writeFile(strange, 'nothing')
  expect(() => readSigningKeys([strange], root)).toThrow('cannot be read')
})

test('without any key, the descriptions of a build stay unsigned, which is said; those of earlier builds stay as they are', async () => {
  const { root, release } = await repository()
  expect(signDescriptions(release, [], root, 0)).toContain('These apps have no update key and take no updates.')
  await utimes(join(release, 'latest-linux.yml'), 1, 1)
  expect(signDescriptions(release, [], root, Date.now())).toBe(
    'No latest*.yml was written: there is no update to sign.',
  )
  expect(publisherKeys(root, logger)).toEqual([])
})

test('keys are named by flags or by the environment; everything else is for electron-builder', () => {
  const env = { ROOMDESK_UPDATE_KEY: '/a.pem' }
  expect(readUpdateKeyFlags(['--linux', 'deb'], env)).toEqual({ signWith: ['/a.pem'], rest: ['--linux', 'deb'] })
  expect(readUpdateKeyFlags(['--sign-with=/b.pem', '--sign-with', '/c.pem', '--win'], env)).toEqual({
    signWith: ['/b.pem', '/c.pem'],
    rest: ['--win'],
  })
  expect(readUpdateKeyFlags(['--update-key'], {})).toMatchObject({ newKey: '' })
  expect(readUpdateKeyFlags(['--update-key', '/d.pem'], {})).toMatchObject({ newKey: '/d.pem' })
  expect(() => readUpdateKeyFlags(['--sign-with'], {})).toThrow('needs the file')
})

test('a broken list of keys closes the updates, and not the app', async () => {
  const { root } = await repository()
  for (const broken of [
    new UpdatePublisher().privatePem,
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
  ]) {
    await writeFile(join(root, publisherKeysFile), broken)
    expect(publisherKeys(root, logger)).toEqual([])
  }
})

test('the keys of this repository are readable', async () => {
  const list = await readFile(resolve(import.meta.dirname, '../..', publisherKeysFile), 'utf8')
  expect(() => parsePublicKeys(list)).not.toThrow()
})
