import { once } from 'node:events'
import { describe, expect, test as base } from 'vitest'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { type Role, roleNames } from '../../../shared/domain/roles.ts'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { disposed } from '../../support/fixtures.ts'

const names = Object.keys(procedures) as ProcedureName[]
const camera = 'rtsp://cam.example/user=admin_password=tlJwpbo6_channel=1.sdp'

/** An access token of each role. */
const tokens: Record<Role, string> = { viewer: '', operator: '', admin: '' }
const test = base.extend('site', { scope: 'file' }, async ({}, { onCleanup }) => {
  const site = disposed(
    onCleanup,
    await openControllerSite({
      credentials: [{ access_key: 'lobby', secret_key: 'the secret of the lobby' }],
      nodes: [{ name: 'lab', kind: 'simulated' }],
    }),
  )
  const key = await site.key()
  for (const role of roleNames) {
    const { id } = await site.create(role, role)
    const { token } = await site.call(key, 'accounts.create_token', { id, label: role })
    tokens[role] = token
  }
  return site
})

describe('Rights of each role', () => {
  test.for(roleNames)(
    'A %s can call the procedures of the table, and is told the required role for the others',
    async (role, { site }) => {
      const listed = await site.ask('GET', '/rpc', { headers: { authorization: `Bearer ${tokens[role]}` } })
      const roleOf = new Map(
        (listed.body as { procedures: { name: string; role: Role }[] }).procedures.map((one) => [one.name, one.role]),
      )
      for (const name of names) {
        const headers = { authorization: `Bearer ${tokens[role]}` }
        // Input that no procedure accepts: the role is checked first, the input afterwards.
        const { status, body } = await site.ask('POST', `/rpc/${name}`, { headers, body: { nonsense: true } })
        const { role: needed, scope } = procedures[name].access
        const hasRole = roleNames.indexOf(role) >= roleNames.indexOf(needed)
        const allowed = hasRole && scope !== 'none'
        expect([name, roleOf.get(name), status]).toEqual([name, needed, allowed ? 400 : 403])
        expect(body).toMatchObject({ ok: false, error: { code: allowed ? 'invalid' : 'forbidden' } })
        if (!hasRole) expect(JSON.stringify(body)).toContain(`needs the role ${needed}`)
        else if (!allowed) expect(JSON.stringify(body)).toContain('sign in with the password')
      }
    },
  )

  test('A viewer makes member links into a room, an operator also personal and host links; neither reads a secret', async ({
    site,
  }) => {
    const { room_id } = await site.call(tokens.operator, 'rooms.create', {
      topic: 'Morning',
      host_password: 'of the host',
    })
    const status = async <N extends ProcedureName>(role: Role, name: N, input: object): Promise<number> =>
      (await site.ask('POST', `/rpc/${name}`, { headers: { authorization: `Bearer ${tokens[role]}` }, body: input }))
        .status
    expect(await status('viewer', 'media.join_link', { room_id, role: 'host' })).toBe(403)
    expect(await status('viewer', 'media.join_link', { room_id })).not.toBe(403)
    // A link that names a person takes that person's place in the room.
    for (const role of ['member', 'host'])
      expect(await status('viewer', 'media.join_link', { room_id, user_id: 'ann', role })).toBe(403)
    expect(await status('operator', 'media.join_link', { room_id, user_id: 'ann' })).not.toBe(403)
    expect(await status('operator', 'media.join_link', { room_id, role: 'host' })).not.toBe(403)
    expect(await status('viewer', 'media.join_now', { room_id })).toBe(403)
    expect(await status('operator', 'media.join_now', { room_id })).not.toBe(403)
    expect(await status('operator', 'rooms.reveal_password', { room_id })).toBe(403)
    expect(await status('operator', 'credentials.reveal', { access_key: 'lobby' })).toBe(403)
    // The token of an admin reads none either: a password would outlive the token.
    expect(await status('admin', 'rooms.reveal_password', { room_id })).toBe(403)
    expect((await site.call(await site.key(), 'rooms.reveal_password', { room_id })).host_password).toBe('of the host')
  })

  test('A viewer reads and receives no secrets and no camera credentials', async ({ site }) => {
    const { room_id } = await site.call(tokens.operator, 'rooms.create', {
      topic: 'Yard',
      host_password: 'of the host',
    })
    const socket = await site.connect(await site.signIn('viewer'))
    const heard: string[] = []
    const toldOfCamera = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        heard.push(data.toString())
        if (data.includes('devices.changed')) resolve()
      })
    })
    await site.call(tokens.operator, 'devices.create', {
      ...{ roomId: room_id, userId: 'cam', userName: 'Yard', userAddress: camera, userData: 'pin tlJwpbo6' },
      ...{ login_name: 'operator-of-cam', login_password: 'Tr0ub4dor.Pw9' },
    })
    await toldOfCamera
    const closed = once(socket, 'close')
    socket.close()
    await closed
    const answers: unknown[] = []
    const inputs: Partial<Record<string, object>> = {
      'rooms.get': { room_id },
      'devices.history': { userId: 'cam' },
      'devices.uptime': { userId: 'cam' },
      'devices.quality': { userId: 'cam' },
      'devices.pictures': { userId: 'cam' },
      'devices.picture': { userId: 'cam' },
      'recordings.segments': { streams: [{ room_id, user_id: 'cam' }], from: 0, to: 1 },
      'recordings.pieces': { stream: { room_id, user_id: 'cam' }, from: 0, to: 1 },
      'recordings.rule': { room_id, user_id: 'cam' },
      'search.find': { text: 'yard' },
    }
    for (const name of names.filter(
      (one) => procedures[one].access.role === 'viewer' && procedures[one].access.scope !== 'none',
    )) {
      if (/^(account|media)\./.test(name)) continue
      answers.push(await site.call(tokens.viewer, name, inputs[name] ?? {}))
    }
    const read = JSON.stringify([answers, heard])
    expect(read).toContain('Yard')
    for (const secret of [
      'tlJwpbo6',
      'operator-of-cam',
      'Tr0ub4dor.Pw9',
      'of the host',
      'the secret of',
      'sealed:',
      'rdp_',
    ]) {
      expect(read).not.toContain(secret)
    }
    // An operator, who sets cameras up, sees their settings.
    expect(JSON.stringify(await site.call(tokens.operator, 'devices.list', {}))).toContain(camera)
  })
})
