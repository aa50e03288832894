import { expect, test } from 'vitest'
import { menuPages } from '../../shared/menu-pages.ts'
import { allPages, pageRole, subjectAddress, titledPages } from '../../renderer/console/pages.ts'

test('each page has an address and a letter of its own', () => {
  const letters = titledPages.flatMap(({ key }) => key ?? [])
  expect(letters).toEqual([...new Set(letters)])
  expect(letters.join('')).toMatch(/^[a-z]+$/)
  const addresses = allPages.map(({ address }) => address)
  expect(addresses).toEqual([...new Set(addresses)])
})

test('the menu of the desktop app opens pages by the names of their addresses', () => {
  const addresses = new Map(allPages.map(({ name, address }) => [name, address]))
  for (const name of menuPages) expect(addresses.get(name)).toBe(`/${name}`)
})

test('a path requires the role of its page, with a row, a part or a query', () => {
  const paths = ['/settings', '/settings/data?setting=backups.keep', '/credentials/kiosk', '/trash?x=1', '/nowhere']
  expect(paths.map(pageRole)).toEqual(['admin', 'admin', 'admin', 'operator', 'viewer'])
  expect(pageRole('/trashed')).toBe('viewer')
})

test('an event leads to the page of its subject', () => {
  expect(subjectAddress('room', 'a/b')).toBe('/rooms/a%2Fb')
  expect(subjectAddress('backup', '2026')).toBe('/settings/data')
  expect(subjectAddress('person', 'ann')).toBe('')
})
