import { part, parts, text, xmlTree } from '../../edge/xml-tree.ts'

/** An object of the bucket. */
export interface ListedObject {
  /** Without the prefix. */
  name: string
  bytes: number
}

/** Page of a listing. */
export interface ListedPage {
  objects: ListedObject[]
  /** Name after which the next page begins; undefined: this is the last one. */
  next: string | undefined
}

/** Objects of one page. A name has 1,024 bytes at most, three characters each when encoded. */
export const pageOfObjects = 250
/** Longest page, in characters. */
const maxPage = 1_000_000

/**
 * Reads the answer of ListObjectsV2 with `encoding-type=url` (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html); undefined: it is none, or longer than one page.
 * @param prefix that is left out of names
 */
export function readListing(xml: string, prefix: string): ListedPage | undefined {
  const result = part(xmlTree(xml, maxPage), 'ListBucketResult')
  if (result === undefined) return undefined
  const objects: ListedObject[] = []
  for (const content of parts(result, 'Contents')) {
    const key = decoded(text(content, 'Key'))
    const bytes = Number(text(content, 'Size') || Number.NaN)
    if (key !== undefined && key.startsWith(prefix) && Number.isSafeInteger(bytes))
      objects.push({ name: key.slice(prefix.length), bytes })
  }
  const isTruncated = text(result, 'IsTruncated') === 'true'
  return { objects, next: isTruncated ? objects.at(-1)?.name : undefined }
}

/** Undefined: it is not percent-encoded text. */
function decoded(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
