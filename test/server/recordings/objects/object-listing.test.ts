import { describe, expect, test } from 'vitest'
import { readListing } from '../../../../server/recordings/objects/object-client.ts'
import { MachineLoad } from '../../../support/machine-load.ts'

const page = (content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</ListBucketResult>`

describe('A page of objects', () => {
  test('has names without the prefix, sizes, and the token of the next page', () => {
    const one = (key: string, size: number): string =>
      `<Contents><Key>${key}</Key><LastModified>x</LastModified><ETag>&quot;e&quot;</ETag><Size>${size}</Size></Contents>`
    const text = page(
      `<IsTruncated>true</IsTruncated>${one('a%2Fb%20c.mp4', 5)}${one('a%2F%E4%BC%9A&amp;x', 7)}${one('other', 1)}`,
    )
    expect(readListing(text, 'a/')).toEqual({
      objects: [
        { name: 'b c.mp4', bytes: 5 },
        { name: '会&x', bytes: 7 },
      ],
      next: '会&x',
    })
    expect(readListing(page(''), '')).toEqual({ objects: [], next: undefined })
    expect(readListing(page(one('%', 5) + one('k', Number.NaN)), '')).toEqual({ objects: [], next: undefined })
  })

  test('has names of any length that S3 allows', () => {
    const key = '会'.repeat(340)
    const text = page(`<Contents><Key>${encodeURIComponent(key)}</Key><Size>1</Size></Contents>`)
    expect(readListing(text, '')?.objects).toEqual([{ name: key, bytes: 1 }])
  })

  test.each([
    ['no XML', 'not a listing'],
    ['another document', '<Error><Code>AccessDenied</Code></Error>'],
    ['a document type', `<!DOCTYPE a [<!ENTITY b "c">]>${page('')}`],
    ['too long a document', page(' '.repeat(1_000_000))],
  ])('is not %s', (_what, text) => {
    expect(readListing(text, '')).toBeUndefined()
  })

  const hostile: readonly (readonly [string, string])[] = [
    ['elements that are never closed', '<Contents>'],
    ['keys that are never closed', '<Contents><Key>'],
    ['tags', '<'],
    ['ends of elements', '</Contents>'],
    ['comments', '<!--'],
    ['sections', '<![CDATA['],
    ['attributes', '<a b="'],
    ['entities', '&amp;'],
  ]
  test.each(hostile)('is parsed in linear time: %s', (_what, part) => {
    const text = `<ListBucketResult>${part.repeat(Math.floor(900_000 / part.length))}`
    const load = new MachineLoad()
    const began = performance.now()
    readListing(text, '')
    expect(performance.now() - began).toBeLessThan(load.bound({ quiet: 1_000, busy: 5_000 }))
  })
})
