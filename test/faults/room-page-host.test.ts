import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

const patience = { timeout: 20_000 }

/** Ann hosts in English, 李明 takes part in Chinese, Bo in English. The stories follow each other. */
describe('a meeting with a host', () => {
  let site: RoomSite
  let room: string
  let ann: Visitor
  let li: Visitor
  let bo: Visitor
  const enter = async (user_id: string, user_name: string, options: { locale?: string; role?: 'host' } = {}) => {
    const { role = 'member', ...window } = options
    return await site.join(await site.link(room, { user_id, user_name, role }), { equipment: 'fake', ...window })
  }
  beforeAll(async () => {
    site = await RoomSite.start()
    room = await site.room({ topic: 'Planning' })
    ann = await enter('ann', 'Ann', { role: 'host' })
    li = await enter('li', '李明', { locale: 'zh-CN' })
    bo = await enter('bo', 'Bo')
  }, 120_000)
  afterAll(() => site[Symbol.asyncDispose]())

  const menu = async (visitor: Visitor, item: string, more = 'More'): Promise<void> => {
    await visitor.button(more).click()
    await visitor.page.getByRole('menuitem', { name: item }).click()
  }
  /** Names in the list of users, in order. */
  const listed = async (visitor: Visitor): Promise<string[]> =>
    await visitor.page
      .getByRole('region', { name: /^People/ })
      .locator('li > .clip')
      .allInnerTexts()

  test('hands are raised by button and by key, shown on the tile and first in the list, in their order', async () => {
    await li.page.keyboard.press('h')
    await li.page.getByText('您已举手').waitFor()
    await ann.page.getByText('李明 raised their hand').waitFor()
    await bo.button('Raise your hand').click()
    await ann.tile('Bo').getByText('hand raised').waitFor({ state: 'attached' })
    await li.tile('Bo').getByText('已举手').waitFor({ state: 'attached' })
    await ann.button('People').click()
    await expect.poll(() => listed(ann), patience).toEqual(['李明', 'Bo', 'Ann (you)'])
    expect(await ann.accessibilityProblems()).toEqual([])
    await bo.button('Lower your hand').click()
    await ann.tile('Bo').getByText('hand raised').waitFor({ state: 'detached' })
    await bo.page.keyboard.press('h')
    await expect.poll(() => listed(ann), patience).toEqual(['李明', 'Bo', 'Ann (you)'])
  })

  test('the host lowers one hand, whose owner is notified, or all of them', async () => {
    await ann.page
      .getByRole('region', { name: /^People/ })
      .getByRole('button', { name: 'Actions for 李明' })
      .click()
    await ann.page.getByRole('menuitem', { name: 'Lower the hand' }).click()
    await li.page.getByText('Ann 已放下您的手').waitFor()
    await li.button('举手').click()
    await menu(ann, 'Lower all hands')
    await bo.page.getByText('Ann lowered your hand').waitFor()
    await ann.tile('李明').getByText('hand raised').waitFor({ state: 'detached' })
    await ann.page.keyboard.press('Escape')
  })

  test('the host mutes everybody at once; each user unmutes themselves', async () => {
    await menu(ann, 'Mute everybody')
    await Promise.all([bo.page.getByText('Ann muted you').waitFor(), li.page.getByText('Ann 已将您静音').waitFor()])
    for (const name of ['Bo', '李明']) await ann.tile(name).getByText('microphone off').waitFor({ state: 'attached' })
    await ann.button('Mute').waitFor()
    await li.button('取消静音').click()
    await ann.tile('李明').getByText('microphone off').waitFor({ state: 'detached' })
  })

  test('the host locks the room and unlocks it: all read so, the operator sees it, and current users can reload', async () => {
    await menu(ann, 'Lock the room')
    await Promise.all([bo.page.getByText('The room is locked').waitFor(), li.page.getByText('房间已锁定').waitFor()])
    expect((await site.controller.rpc('rooms.get', { room_id: room })).room.status).toBe('locked')
    const dora = await site.open(await site.link(room), { equipment: 'none' })
    await dora.page.getByLabel('Your name').fill('Dora')
    await dora.page.getByRole('button', { name: /^Join/ }).click()
    await dora.page.getByRole('heading', { name: 'The room is locked' }).waitFor()
    await dora.close()
    await bo.page.reload()
    await bo.enter()
    await ann.tile('Bo').waitFor()
    await menu(ann, 'Unlock the room')
    await li.page.getByText('房间已重新开放').waitFor()
  })

  test('only the host has the host’s menu', async () => {
    await bo.button('More').click()
    const items = await bo.page.getByRole('menuitem').allInnerTexts()
    expect(items.filter((item) => /everybody|Lock|End/.test(item))).toEqual([])
    await bo.page.keyboard.press('Escape')
  })

  test('the host ends the meeting for everybody after confirming the number of users; the room can be joined again', async () => {
    await menu(ann, 'End the meeting for everybody')
    const dialog = ann.page.getByRole('dialog')
    await dialog.getByText('3 including you').waitFor()
    expect(await ann.accessibilityProblems()).toEqual([])
    await dialog.getByRole('button', { name: 'End for everybody' }).click()
    await Promise.all([
      bo.page.getByRole('heading', { name: 'The host ended the meeting' }).waitFor(),
      li.page.getByRole('heading', { name: '主持人已结束会议' }).waitFor(),
      ann.page.getByRole('heading', { name: 'You ended the meeting' }).waitFor(),
    ])
    await ann.page.getByRole('button', { name: 'Join again' }).waitFor()
    await bo.page.getByRole('button', { name: 'Join again' }).click()
    await bo.enter()
    await bo.close()
    const { items } = await site.controller.rpc('events.list', { subject: { type: 'room', id: room } })
    expect(items.filter(({ actor }) => actor.type === 'host').map(({ kind, actor }) => [kind, actor.name])).toEqual([
      ['room.meetingEnded', 'Ann'],
      ['room.unlocked', 'Ann'],
      ['room.locked', 'Ann'],
      ['room.mutedAll', 'Ann'],
    ])
    await Promise.all([ann.close(), li.close()])
    expect([...ann.problems, ...li.problems, ...bo.problems]).toEqual([])
  })

  test('guests wait until the host admits them, see the topic, and send nothing; a host who joins later sees them', async () => {
    const interview = await site.room({ topic: 'Interview', waiting_room: true })
    const link = await site.link(interview)
    const guest = async (name: string, locale: string): Promise<Visitor> => {
      const visitor = await site.open(link, { equipment: 'fake', locale })
      await visitor.page.getByText('Interview', { exact: true }).waitFor()
      await visitor.page.getByLabel(locale === 'zh-CN' ? '您的姓名' : 'Your name').fill(name)
      await visitor.page.getByRole('button', { name: /^(Join|加入)/ }).click()
      return visitor
    }
    const [cy, wang, eve] = [await guest('Cy', 'en-GB'), await guest('王芳', 'zh-CN'), await guest('Eve', 'en-GB')]
    await cy.page.getByRole('heading', { name: 'No host is here yet' }).waitFor()
    await wang.page.getByRole('heading', { name: '主持人尚未到达' }).waitFor()
    await eve.page.getByText('Interview').waitFor()
    expect([...(await cy.accessibilityProblems()), ...(await wang.accessibilityProblems())]).toEqual([])
    expect((await site.controller.rpc('rooms.get', { room_id: interview })).users).toEqual([])
    const host = await site.join(await site.link(interview, { user_id: 'ann', user_name: 'Ann', role: 'host' }), {
      viewport: { width: 390, height: 844 },
    })
    await host.page.getByText('3 people are waiting to be let in.').waitFor()
    await cy.page.getByRole('heading', { name: 'Waiting for the host to let you in' }).waitFor()
    await wang.page.getByRole('heading', { name: '等待主持人允许您进入' }).waitFor()
    await host.until(`[...document.querySelectorAll('[role=toolbar] button')].every((button) => {
      const { left, right } = button.getBoundingClientRect()
      return left >= 0 && right <= innerWidth
    })`)
    await host.page.getByRole('button', { name: 'Show' }).click()
    expect(await host.accessibilityProblems()).toEqual([])
    // They lose the connection while waiting, and keep their place.
    await cy.page.context().setOffline(true)
    await cy.page.getByText('Connection lost. Reconnecting').waitFor()
    await cy.page.context().setOffline(false)
    await cy.page.getByText('Connection lost. Reconnecting').waitFor({ state: 'detached' })
    const waiting = host.page.getByRole('region', { name: 'Waiting' })
    expect(await waiting.locator('li > .clip').allInnerTexts()).toEqual(['Cy', '王芳', 'Eve'])
    await waiting.getByRole('button', { name: 'Turn away: Eve' }).click()
    await eve.page.getByRole('heading', { name: 'You were not let in' }).waitFor()
    await waiting.getByRole('button', { name: 'Let in: Cy' }).click()
    await cy.sees('Ann')
    await waiting.getByRole('button', { name: 'Let in: 王芳' }).click()
    await wang.sees('Ann')
    await waiting.waitFor({ state: 'detached' })
    // Admitted users do not wait again.
    await cy.page.reload()
    await cy.enter()
    expect([...host.problems, ...cy.problems, ...wang.problems, ...eve.problems]).toEqual([])
  })
})
