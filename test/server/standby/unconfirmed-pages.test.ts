import { expect, test } from 'vitest'
import { apiPages, type MountedPage } from '../../../shared/authorization/api-pages.ts'
import { sole } from '../../support/sole-leadership.ts'
import { liveSite } from '../../support/sites/live-site.ts'

/** Pages that are files of the program. */
const fixed = new Set<MountedPage>([
  'GET /live/:token',
  'GET /player/*',
  'GET /admin/record/recordPlayer.html',
  'GET /admin/live/rtmpPlayer.html',
])

test('A controller that may have been replaced serves no page of the media port from memory', async () => {
  let isConfirmed = true
  const leadership = {
    ...sole,
    confirmed: () => (isConfirmed ? sole.confirmed() : Promise.reject(new Error('another controller leads'))),
  }
  const site = await liveSite({ leadership })
  const statusOf = async (page: string): Promise<number> => {
    const path = page.slice('GET '.length).replaceAll(/:\w+/g, 'x').replace('*', 'x')
    return (await fetch(`${site.client.media}${path}`, { redirect: 'manual' })).status
  }
  const pages = Object.keys(apiPages.media).filter((page): page is MountedPage => page !== 'GET /openapi.json')
  const before = new Map<string, number>()
  for (const page of pages) before.set(page, await statusOf(page))
  expect([...before.values()]).not.toContain(503)
  isConfirmed = false
  const answered: string[] = []
  for (const page of pages) if ((await statusOf(page)) !== 503) answered.push(page)
  expect(answered.sort()).toEqual([...fixed].sort())
  expect(await (await fetch(`${site.client.media}/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0' })
})
