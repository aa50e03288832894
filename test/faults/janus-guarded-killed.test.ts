import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startCamera } from '../support/camera/camera.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { startJanus } from '../support/janus/janus-server.ts'
import { Participant } from '../support/janus/participant.ts'

test('the controller of a guarded Janus node is killed: nobody in a room notices, and a user who was being removed stays out', async () => {
  await using camera = await startCamera({ fps: 10 })
  await using janus = await startJanus({ tokenSecret: 'token secret' })
  let controller: Headless = await startHeadless({ site: { nodes: [janus.asNode()] } })
  const { folder } = controller
  try {
    const { room_id } = await controller.rpc('rooms.create', { topic: 'yard' })
    const userAddress = camera.url('/stream1')
    const device = { roomId: room_id, userId: 'cam', userName: 'Yard', userAddress, join: 'required' } as const
    await controller.rpc('devices.create', device)
    const given = await controller.rpc('media.participant_token', { room_id, user_id: 'ann' })
    await using ann = await Participant.connect(given.ws_url, given.token)
    await ann.join(given.room, 'ann', given.room_token)
    const users = async (): Promise<string[]> =>
      (await controller.rpc('rooms.get', { room_id })).users.map(({ user_id }) => user_id).sort()
    await expect.poll(users).toEqual(['ann', 'cam'])

    await controller.stop('SIGKILL')
    controller = await startHeadless({ folder })
    await expect.poll(users, { timeout: 15_000 }).toEqual(['ann', 'cam'])
    await expect.poll(async () => (await controller.rpc('devices.list', {}))[0]?.state).toBe('joined')
    // The room and its camera are the same.
    expect(ann.heard).toEqual([])
    expect((await controller.rpc('media.participant_token', { room_id, user_id: 'bob' })).room).toBe(given.room)

    await janus.signal('SIGSTOP')
    void controller.result('rooms.kick', { room_id, user_id: 'ann' }).catch(() => {})
    await expect.poll(() => isOnDisk(folder, '"removals":[{"user_id":"ann"')).toBe(true)
    await controller.stop('SIGKILL')
    await janus.signal('SIGCONT')
    expect(ann.heard).not.toContainEqual(expect.objectContaining({ reason: 'kicked' }))
    controller = await startHeadless({ folder })
    await expect
      .poll(async () => {
        const again = await controller.result('media.participant_token', { room_id, user_id: 'ann' })
        return again.ok ? 'let in' : again.error.message
      })
      .toBe('They were removed from the room a moment ago.')
    await expect.poll(() => ann.heard).toContainEqual(expect.objectContaining({ reason: 'kicked' }))
  } finally {
    await controller.stop('SIGKILL')
    await removeFolder(folder)
  }
}, 120_000)

/** Tells whether a file of the data folder contains this text. */
async function isOnDisk(folder: string, text: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  return texts.some((each) => each.includes(text))
}
