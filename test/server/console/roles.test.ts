import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Controller } from '../../../server/controller.ts'
import { type ProcedureName, procedures } from '../../../shared/console/contract.ts'
import { procedureRoles, type Role, roles } from '../../../shared/console/roles.ts'
import { removeFolder } from '../../support/headless.ts'

const names = Object.keys(procedures) as ProcedureName[]
/** No procedure takes it: who may not call it is told so all the same, before anybody looks at it. */
const nonsense = { nonsense: true }

describe('What each role may do', () => {
  let controller: Controller
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomdesk-roles-'))
    controller = await Controller.open({
      dataFolder: folder,
      logger: pino({ level: 'silent' }),
      version: 'test',
      overrides: { media_port: 0, device_port: 0, node_port: 0, console_port: 0 },
      consolePage: folder,
    })
    await controller.start()
  })
  afterAll(async () => {
    await controller.stop(0)
    await removeFolder(folder)
  })

  async function answered(role: Role, name: string, input: unknown): Promise<string> {
    const result = await controller.call(name, input, { transport: 'rpc', client: '127.0.0.1', role })
    return result.ok ? 'ok' : result.error.code
  }

  test.each(roles)('A %s may call what the table says, and nothing else', async (role) => {
    for (const name of names) {
      const allowed = roles.indexOf(role) >= roles.indexOf(procedureRoles[name])
      expect([name, await answered(role, name, nonsense)]).toEqual([name, allowed ? 'invalid' : 'forbidden'])
    }
  })

  test('A viewer is not given a link as host, and an operator reads no secret', async () => {
    const host = { room_id: '123', role: 'host' }
    expect(await answered('viewer', 'media.join_link', host)).toBe('forbidden')
    expect(await answered('operator', 'media.join_link', host)).toBe('notFound')
    expect(await answered('operator', 'rooms.reveal_password', { room_id: '123' })).toBe('forbidden')
    expect(await answered('operator', 'credentials.reveal', { access_key: 'lobby' })).toBe('forbidden')
  })
})
