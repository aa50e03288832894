/** Settings of kept pictures. */
export const pictures = {
  labels: {
    every_minutes: '间隔（分钟）',
    per_camera: '每个摄像头的图片数',
    megabytes: '磁盘空间（MB）',
    days: '保留天数',
  },
  hints: {
    every_minutes: '0 表示关闭。仅限内置节点上的摄像头。',
    per_camera: '最旧的图片会被删除。',
    megabytes: '所有摄像头合计；最旧的图片会被删除。每张图片占 50 至 300 kB。',
    days: '',
  },
} as const
