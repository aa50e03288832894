import dns from 'node:dns/promises'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { testObjectStorage } from '../../../../server/recordings/objects/site-bucket.ts'
import { ObjectClient } from '../../../../server/recordings/objects/object-client.ts'
import type { ObjectStorageSettings } from '../../../../shared/settings/recording.ts'
import { sealer } from '../../../support/sites/store-site.ts'
import { certificateFiles } from '../../edge/certificates.ts'
import { bucketHosts } from '../../../support/objects/bucket-hosts.ts'
import { ObjectServer } from '../../../support/objects/object-server.ts'
import { shared, sharedFolder } from '../../../support/fixtures.ts'

const site = sealer
const folder = sharedFolder()
const server = shared(() => ObjectServer.start())
afterEach(() => {
  server().fault = undefined
})

const client = (more: Partial<ObjectStorageSettings> = {}, sitePorts: readonly number[] = []): ObjectClient =>
  new ObjectClient(server().settings(more), () => sitePorts, { silenceMs: 300 })
const outcome = async (more: Partial<ObjectStorageSettings> = {}, sitePorts: readonly number[] = []) => {
  const { problem, step } = await testObjectStorage(client(more, sitePorts), site)
  return [problem, step]
}

test('a file is uploaded below the prefix, read in parts, listed and deleted', async () => {
  const storage = client({ prefix: 'site-a/' })
  const path = join(folder(), 'film.mp4')
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
  await writeFile(path, bytes)
  const names = ['MTAwMA/eWFyZA~main/2026-11-25/1.mp4', 'MTAwMA/eWFyZA~main/2026-11-25/2.mp4', 'b/3.mp4']
  for (const name of names) await storage.putFile(name, () => open(path), { end: 'length' })
  expect(await server().names()).toEqual(names.map((name) => `site-a/${name}`))
  const part = await storage.read(names[0] ?? '', 299_000, 5_000)
  expect(part).toEqual({ bytes: bytes.subarray(299_000), size: 300_000, facts: { end: 'length' } })

  const listed: string[] = []
  let after: string | undefined
  do {
    const page = await storage.list(after, undefined, 2)
    listed.push(...page.objects.map(({ name, bytes: size }) => `${name} ${size}`))
    after = page.next
  } while (after !== undefined)
  expect(listed).toEqual(names.map((name) => `${name} 300000`))

  for (const name of names) await storage.delete(name)
  await storage.delete('never/there.mp4')
  expect(await server().names()).toEqual([])
  await expect(storage.read(names[0] ?? '', 0, 10)).rejects.toMatchObject({ problem: 'missing' })
})

test('a bucket in the host name is reached there, signed for that name', async () => {
  const lookup = vi.spyOn(dns, 'lookup').mockResolvedValue([{ address: '127.0.0.1', family: 4 }] as never)
  onTestFinished(() => lookup.mockRestore())
  const zone = 's3.storage.example'
  const { fault, hosts } = bucketHosts(zone, 'S3RVER')
  server().fault = fault
  const byName = { endpoint: `http://${zone}:${server().port}`, path_style: false }
  expect(await testObjectStorage(client(byName), site)).toMatchObject({ problem: null, step: null })
  const storage = client({ ...byName, prefix: 'site-a/' })
  await storage.putBytes('a/1.json', Buffer.from('{}'))
  expect(await server().names()).toEqual(['site-a/a/1.json'])
  expect((await storage.list(undefined)).objects).toMatchObject([{ name: 'a/1.json', bytes: 2 }])
  await storage.delete('a/1.json')
  expect(await outcome({ ...byName, secret_access_key: 'wrong' })).toEqual(['signature', 'list'])
  expect(await outcome({ ...byName, bucket: 'no-such-bucket' })).toEqual(['bucket', 'list'])
  expect([...hosts]).toEqual([`recordings.${zone}:${server().port}`, `no-such-bucket.${zone}:${server().port}`])
})

test('the connection test passes if everything works, and leaves nothing behind', async () => {
  expect(await testObjectStorage(client(), site)).toMatchObject({ problem: null, step: null })
  expect(await server().names()).toEqual([])
})

test('each failure of the connection test has a name', async () => {
  expect(await outcome({ access_key_id: 'nobody' })).toEqual(['keyUnknown', 'list'])
  expect(await outcome({ secret_access_key: 'wrong' })).toEqual(['signature', 'list'])
  expect(await outcome({ bucket: 'no-such-bucket' })).toEqual(['bucket', 'list'])
  expect(await outcome({ secret_access_key: '' })).toEqual(['incomplete', 'list'])
  expect(await outcome({ endpoint: 'http://127.0.0.1:9' })).toEqual(['unreachable', 'list'])
  expect(await outcome({ endpoint: 'http://no-such-host.invalid' })).toEqual(['notFound', 'list'])
  expect(await outcome({ endpoint: server().settings().endpoint.replace('http:', 'https:') })).toEqual([
    'noService',
    'list',
  ])
})

test('this machine, link-local addresses and metadata services are not called unless a setting permits it', async () => {
  const refused = ['notPermitted', 'list']
  expect(await outcome({ networks: [] })).toEqual(refused)
  for (const host of ['localhost', '[::1]', '0.0.0.0', '169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]'])
    expect([host, await outcome({ networks: [], endpoint: `http://${host}:${server().port}` })]).toEqual([
      host,
      refused,
    ])
  expect(await outcome({ networks: ['192.0.2.0/24'] })).toEqual(refused)
})

test('the ports of the site itself are never called', async () => {
  expect(await outcome({}, [server().port])).toEqual(['ownPort', 'list'])
  expect(await outcome({ endpoint: `http://localhost:${server().port}` }, [server().port])).toEqual(['ownPort', 'list'])
})

test('a certificate of the site’s own authority is trusted once its file is entered', async () => {
  const { cert_file, key_file } = await certificateFiles(folder())
  const [cert, key] = await Promise.all([readFile(cert_file, 'utf8'), readFile(key_file, 'utf8')])
  const secure = await ObjectServer.start({ cert, key })
  try {
    const endpoint = secure.settings().endpoint.replace('127.0.0.1', 'localhost')
    const problemOf = async (ca_file: string) =>
      (await testObjectStorage(new ObjectClient(secure.settings({ endpoint, ca_file }), () => []), site)).problem
    expect(await problemOf('')).toBe('certificate')
    expect(await problemOf(key_file)).toBe('caFile')
    expect(await problemOf(join(folder(), 'none.pem'))).toBe('caFile')
    expect(await problemOf(cert_file)).toBeNull()
  } finally {
    await secure.remove()
  }
})

test('another web server, a redirect, and a full, silent or lying storage are distinguished', async () => {
  server().fault = (_, response) => void response.end('<html>') === undefined
  expect(await outcome()).toEqual(['noService', 'list'])
  server().fault = (_, response) =>
    void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end() === undefined
  expect(await outcome()).toEqual(['noService', 'list'])
  server().fault = ({ method }, response) => {
    if (method !== 'PUT') return false
    response.writeHead(507).end('<Error><Code>XMinioStorageFull</Code></Error>')
    return true
  }
  expect(await outcome()).toEqual(['full', 'put'])
  server().fault = ({ method }) => method === 'GET'
  expect(await outcome()).toEqual(['silent', 'list'])
  server().fault = ({ method }, response) => {
    if (method !== 'PUT') return false
    response.writeHead(200, { etag: `"${'0'.repeat(32)}"` }).end()
    return true
  }
  expect(await outcome()).toEqual(['mismatch', 'put'])
})
