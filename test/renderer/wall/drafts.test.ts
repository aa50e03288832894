import { expect, onTestFinished, test } from 'vitest'
import { evenArrangement } from '../../../shared/console/wall-layout.ts'
import { storedDrafts, storeDrafts } from '../../../renderer/console/pages/wall/stored-drafts.ts'

test('Pictures of a wall that are not saved survive a reload of the page, and drafts of another version are dropped', () => {
  onTestFinished(() => sessionStorage.clear())
  const draft = { items: [{ kind: 'camera' as const, id: 'gate' }], arrangement: evenArrangement, revision: 3 }
  storeDrafts([['view-1', draft]])
  expect(storedDrafts()).toEqual([['view-1', draft]])
  sessionStorage.setItem('roomdesk.wall.drafts', '[["view-1", {"tiles": 4}]]')
  expect(storedDrafts()).toEqual([])
})
