import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readAuthorities } from '../../../server/edge/outgoing-tls.ts'
import { tlsMaterial } from '../../../server/edge/tls.ts'
import { readRegularFile } from '../../../shared/files/regular-file.ts'
import { settingsSchema } from '../../../shared/settings.ts'

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'roomdesk-files-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** Reading any of these whole would never end, block, or take all memory. */
async function noFiles(): Promise<string[]> {
  const place = await folder()
  const [pipe, socket, large, toDevice] = ['pipe', 'socket', 'large', 'link'].map((name) => join(place, name)) as [
    ...[string, string, string, string],
  ]
  execFileSync('mkfifo', [pipe])
  const server = createServer().listen(socket)
  onTestFinished(() => void server.close())
  await writeFile(large, '')
  await truncate(large, 2 ** 40)
  await symlink('/dev/zero', toDevice)
  return ['/dev/zero', '/dev/urandom', '/dev/stdin', place, pipe, socket, toDevice, large]
}

test('only regular files are read, up to the allowed size', async () => {
  for (const path of await noFiles())
    await expect(readRegularFile(path, 1_000), path).rejects.toMatchObject({
      code: expect.stringMatching(/^(NOT_A_FILE|TOO_LARGE)$/),
    })
})

test('a file, a link to one, and one whose size the system does not report are read completely', async () => {
  const place = await folder()
  const [file, linked] = [join(place, 'file.pem'), join(place, 'link.pem')]
  await writeFile(file, 'x'.repeat(1_000))
  await symlink(file, linked)
  expect((await readRegularFile(file, 1_000)).length).toBe(1_000)
  expect((await readRegularFile(linked, 1_000)).toString()).toBe('x'.repeat(1_000))
  await expect(readRegularFile(file, 999)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  await expect(readRegularFile(join(place, 'gone'), 10)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('files named in the settings are read this way: certificate, key and authorities', async () => {
  for (const path of await noFiles()) {
    const tls = { mode: 'file', cert_file: path, key_file: path }
    await expect(tlsMaterial(settingsSchema.parse({ tls }), '/nowhere'), path).rejects.toThrow('tls.cert_file')
    await expect(readAuthorities(path), path).rejects.toThrow()
  }
})
