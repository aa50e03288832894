import { describe, expect, test } from 'vitest'
import { type Column, fittingColumns } from '../../renderer/kit/components/table.ts'

const columns: readonly Column[] = [
  { key: 'number', title: '', track: '100px', from: 400 },
  { key: 'topic', title: '', track: 'minmax(200px, 2fr)' },
  { key: 'owner', title: '', track: '90px', from: 700 },
  { key: 'created', title: '', track: '160px', from: 600 },
  { key: 'acts', title: '', track: '46px' },
]
const shownAt = (width: number) => fittingColumns(columns, width, 12).map(({ key }) => key)

describe('The columns of a table', () => {
  test('are all shown while its width is unknown, and where they fit', () => {
    expect(shownAt(0)).toHaveLength(5)
    expect(shownAt(700)).toHaveLength(5)
  })

  test('are hidden beginning with the one that needs the widest table, so that the menu of a row is never cut off', () => {
    expect(shownAt(699)).toEqual(['number', 'topic', 'created', 'acts'])
    const crowded: readonly Column[] = [{ key: 'tags', title: '', track: '170px', from: 420 }, ...columns]
    expect(fittingColumns(crowded, 620, 12).map(({ key }) => key)).toEqual(['tags', 'number', 'topic', 'acts'])
    expect(shownAt(500)).toEqual(['number', 'topic', 'acts'])
  })

  test('that are required stay, however narrow the table is', () => {
    expect(shownAt(120)).toEqual(['topic', 'acts'])
  })
})
