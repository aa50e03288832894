/** Returns a name that every file system accepts. */
export function fileName(name: string): string {
  return (
    name
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[.-]+|[.-]+$/g, '')
      .slice(0, 60) || 'recording'
  )
}

/** Formats a moment in UTC for a file name. */
export function stampOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z`
}
