import { expect, onTestFinished, test } from 'vitest'
import { LaunchError, readLaunchOptions } from '../../../../server/bin/launch-options.ts'
import { ApiClient } from '../../../support/api-client.ts'
import { HeadlessEndedError, startHeadless } from '../../../support/headless.ts'

/** Source of the switch: a flag or the environment overrides the settings, which the site file and the console change. */

const credential = { label: 'Site', access_key: 'site', secret_key: 'the secret of the site' }
const info = '/sdk/config/serverinfo'

test('The switches are flags and variables of the environment, on or off', () => {
  expect(readLaunchOptions([], {})).toMatchObject({ olderClients: undefined, getAccessToken: undefined })
  expect(readLaunchOptions(['--older-clients', 'on', '--get-access-token=off'], {})).toMatchObject({
    olderClients: true,
    getAccessToken: false,
  })
  const environment = { ROOMDESK_OLDER_CLIENTS: 'off', ROOMDESK_GET_ACCESS_TOKEN: 'on' }
  expect(readLaunchOptions([], environment)).toMatchObject({ olderClients: false, getAccessToken: true })
  expect(() => readLaunchOptions(['--older-clients', 'yes'], {})).toThrow(
    new LaunchError('--older-clients must be on or off, not "yes".'),
  )
  expect(() => readLaunchOptions([], { ROOMDESK_OLDER_CLIENTS: '1' })).toThrow(
    new LaunchError('ROOMDESK_OLDER_CLIENTS must be on or off, not "1".'),
  )
})

test('A site file turns the switch on, the console turns it off at once, and the environment overrides both', async () => {
  const site = {
    credentials: [credential],
    nodes: [{ name: 'lab', kind: 'simulated' }],
    settings: { compatibility: { older_clients: true } },
  }
  const first = await startHeadless({ site })
  onTestFinished(async () => {
    await first.remove()
  })
  const client = new ApiClient(first.ready, credential)
  await client.authenticate()
  expect(await client.get(info)).toMatchObject({ ret: 0, rest_uri: new URL(first.ready.media).host })
  expect((await first.rpc('overview.get', {})).older_clients).toMatchObject({ on: true, fixed: [] })
  const patch = { compatibility: { older_clients: false } }
  expect(await first.rpc('settings.check', patch)).toEqual({ ok: true, problems: [], restarts: [] })
  await first.rpc('settings.set', patch)
  expect(await client.get(info)).toMatchObject({ ret: 408 })
  const { older_clients, attention } = await first.rpc('overview.get', {})
  expect(older_clients).toMatchObject({ on: false, refused: [{ operation: 'server_info', credential: 'site' }] })
  expect(attention.find(({ code }) => code === 'olderClientRefused')).toMatchObject({ subject: '127.0.0.1 (site)' })
  await first.stop()

  const env = { ROOMDESK_OLDER_CLIENTS: 'on', ROOMDESK_GET_ACCESS_TOKEN: 'on' }
  const second = await startHeadless({ folder: first.folder, env })
  onTestFinished(async () => void (await second.stop()))
  const again = new ApiClient(second.ready, credential)
  await again.authenticate()
  expect(await again.get(info)).toMatchObject({ ret: 0 })
  const overview = await second.rpc('overview.get', {})
  expect(overview.older_clients).toMatchObject({
    on: true,
    get_access_token: true,
    fixed: ['older_clients', 'get_access_token'],
  })
  expect(overview.attention.map(({ code }) => code)).toContain('secretsInUrls')
  expect((await second.rpc('settings.get', {})).compatibility.older_clients).toBe(false)
})

test('A site file with an invalid value is refused with its path', async () => {
  const site = { credentials: [credential], settings: { compatibility: { older_clients: 'yes' } } }
  const failure = await startHeadless({ site }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(HeadlessEndedError)
  expect(failure).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('$.settings.compatibility.older_clients'),
  })
})
