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

/**
 * Reads the answer of ListObjectsV2 with `encoding-type=url` (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html); undefined: it is none. Names in it are percent-encoded, so
 * that no text needs more than the five entities of XML.
 * @param prefix that is left out of names
 */
export function readListing(xml: string, prefix: string): ListedPage | undefined {
  if (!xml.includes('<ListBucketResult')) return undefined
  const objects: ListedObject[] = []
  for (const [, content = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = decoded(textOf(content, 'Key') ?? '')
    const bytes = Number(textOf(content, 'Size'))
    if (key !== undefined && key.startsWith(prefix) && Number.isSafeInteger(bytes))
      objects.push({ name: key.slice(prefix.length), bytes })
  }
  const isTruncated = textOf(xml, 'IsTruncated') === 'true'
  return { objects, next: isTruncated ? objects.at(-1)?.name : undefined }
}

function textOf(xml: string, element: string): string | undefined {
  const text = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1]
  return text?.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => entities[name] ?? '')
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

/** Undefined: it is not percent-encoded text. */
function decoded(key: string): string | undefined {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
