import { expect, test } from 'vitest'
import { controllerSite, password } from '../../support/sites/controller-site.ts'

const settings = { topic: 'Interview', room_mode: 2, waiting_room: true, attendee_max: 8 } as const

test('an operator stores templates of rooms, which survive a restart and a backup; a viewer only reads them', async () => {
  const site = await controllerSite()
  const key = await site.key()
  const saved = await site.call(key, 'templates.save', { name: ' Interview ', settings })
  expect(saved).toMatchObject({ name: 'Interview', settings: { ...settings, owner_id: 'operator' } })
  expect(await site.result(key, 'templates.save', { name: 'interview', settings })).toMatchObject({
    error: { code: 'conflict', name: 'templateExists' },
  })
  const backup = await site.call(key, 'backups.make', {})
  await site.call(key, 'templates.save', { id: saved.id, name: 'Hearing' })
  await site.restart()
  expect(await site.call(key, 'templates.list', undefined)).toMatchObject([{ name: 'Hearing', settings }])
  await site.call(key, 'templates.remove', { id: saved.id })
  expect(await site.result(key, 'templates.save', { id: saved.id, name: 'Gone' })).toMatchObject({
    error: { name: 'templateNotFound' },
  })
  await site.call(key, 'backups.restore', { name: backup.name })
  expect(await site.call(key, 'templates.list', undefined)).toMatchObject([{ name: 'Interview', settings }])

  await site.create('vera', 'viewer')
  const viewer = await site.signIn('vera', password)
  expect(await site.call(viewer, 'templates.list', undefined)).toHaveLength(1)
  expect(await site.result(viewer, 'templates.save', { name: 'Mine', settings })).toMatchObject({ status: 403 })
  const { items } = await site.call(key, 'events.list', { text: 'templates' })
  expect(items.map(({ params }) => [params.procedure, params.name])).toContainEqual(['templates.save', 'Interview'])
})
